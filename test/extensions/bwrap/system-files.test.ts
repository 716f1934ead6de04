import {
	chmodSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemArguments, writeSystemFiles } from "../../../extensions/bwrap/holder/system-files";

describe("the small /etc of a sandbox", () => {
	let folder: string;
	let etc: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "system-files-"));
		etc = join(folder, "etc");
	});
	afterEach(() => rmSync(folder, { recursive: true }));
	const read = (name: string) => readFileSync(join(etc, name), "utf8");

	it("knows root, one ordinary user and nobody, and no one of the machine", async () => {
		writeSystemFiles(etc, "box", "deny");
		expect(
			read("passwd")
				.split("\n")
				.map((line) => line.split(":")[0]),
		).toEqual(["root", "sandbox", "nobody", ""]);
		expect(
			read("group")
				.split("\n")
				.map((line) => line.split(":")[0]),
		).toEqual(["root", "sandbox", "nogroup", ""]);
		expect(read("hosts")).toMatch(/^127\.0\.0\.1 localhost\n::1 localhost\n127\.0\.1\.1 box\n$/);
		expect(read("hostname")).toBe("box\n");
		expect(readdirSync(etc).sort()).toEqual(["group", "hostname", "hosts", "nsswitch.conf", "passwd"]);
	});

	it("has a copy of the resolvers where resolv.conf is a link into a folder that the sandbox has not", async () => {
		// As systemd-resolved makes it: /etc/resolv.conf -> ../run/systemd/resolve/stub-resolv.conf
		mkdirSync(join(folder, "run/systemd/resolve"), { recursive: true });
		mkdirSync(join(folder, "machine"));
		writeFileSync(join(folder, "run/systemd/resolve/stub-resolv.conf"), "nameserver 127.0.0.53\noptions edns0\n");
		const link = join(folder, "machine/resolv.conf");
		symlinkSync("../run/systemd/resolve/stub-resolv.conf", link);
		writeSystemFiles(etc, "box", "allow", link);
		expect(lstatSync(join(etc, "resolv.conf")).isFile()).toBe(true);
		expect(read("resolv.conf")).toBe("nameserver 127.0.0.53\noptions edns0\n");
		const words = systemArguments(etc, "allow");
		expect(words.slice(words.indexOf(join(etc, "resolv.conf")) - 1).slice(0, 3)).toEqual([
			"--ro-bind",
			join(etc, "resolv.conf"),
			"/etc/resolv.conf",
		]);
	});

	it("has resolvers that the sandbox's own user may read, whatever the mode on the machine", async () => {
		writeFileSync(join(folder, "resolv.conf"), "nameserver 192.0.2.1\n");
		chmodSync(join(folder, "resolv.conf"), 0o600);
		writeSystemFiles(etc, "box", "allow", join(folder, "resolv.conf"));
		expect(statSync(join(etc, "resolv.conf")).mode & 0o777).toBe(0o644);
	});

	it.each([
		["has none", () => undefined],
		["has a link that leads nowhere", (file: string) => symlinkSync("/run/no/such/file", file)],
	])("has empty resolvers under allow where the machine %s", async (_what, make) => {
		const file = join(folder, "resolv.conf");
		make(file);
		writeSystemFiles(etc, "box", "allow", file);
		expect(read("resolv.conf")).toBe("");
	});

	it("has no resolvers under deny", async () => {
		writeSystemFiles(etc, "box", "deny");
		expect(systemArguments(etc, "deny").join(" ")).not.toContain("resolv.conf");
	});

	it("takes nothing of the machine's /etc but what holds no secret, read-only", () => {
		const words = systemArguments(etc, "allow");
		const fromMachine = words.filter((word, index) => word.startsWith("/etc/") && words[index - 1] === "--ro-bind-try");
		expect(fromMachine).not.toEqual(expect.arrayContaining(["/etc/shadow"]));
		expect(fromMachine.filter((path) => /shadow|ssh|sudo|private|secret|gss|krb|machine-id/.test(path))).toEqual([]);
		expect(
			words.filter((word) => word.startsWith("--")).every((word) => /^--(ro-bind(-try)?|symlink)$/.test(word)),
		).toBe(true);
	});
});
