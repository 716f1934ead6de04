import {
	chmodSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOLDER_DESCRIPTORS } from "../../../extensions/bwrap/holder/command";
import { systemArguments, systemFiles, writeResolvers } from "../../../extensions/bwrap/holder/system-files";

describe("the small /etc of a sandbox", () => {
	let folder: string;
	let resolvers: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "system-files-"));
		resolvers = join(folder, "copy");
	});
	afterEach(() => rmSync(folder, { recursive: true }));
	const names = (text: string) => text.split("\n").map((line) => line.split(":")[0]);

	it("knows root, one ordinary user and nobody, and no one of the machine", () => {
		const files = systemFiles("box");
		expect(names(files.passwd)).toEqual(["root", "sandbox", "nobody", ""]);
		expect(names(files.group)).toEqual(["root", "sandbox", "nogroup", ""]);
		expect(files.hosts).toBe("127.0.0.1 localhost\n::1 localhost\n127.0.1.1 box\n");
		expect(Object.keys(files).sort()).toEqual(Object.keys(HOLDER_DESCRIPTORS.files).sort());
	});

	it("is read from descriptors that every shell can name and nobody else has", () => {
		const { lock, files, ...others } = HOLDER_DESCRIPTORS;
		const descriptors = [...Object.values(files), ...Object.values(others)];
		expect(new Set(descriptors).size).toBe(descriptors.length);
		expect(Math.max(...descriptors, lock)).toBeLessThan(10);
	});

	it("has a copy of the resolvers where resolv.conf is a link into a folder that the sandbox has not", () => {
		// As systemd-resolved makes it: /etc/resolv.conf -> ../run/systemd/resolve/stub-resolv.conf
		mkdirSync(join(folder, "run/systemd/resolve"), { recursive: true });
		mkdirSync(join(folder, "machine"));
		writeFileSync(join(folder, "run/systemd/resolve/stub-resolv.conf"), "nameserver 127.0.0.53\noptions edns0\n");
		const link = join(folder, "machine/resolv.conf");
		symlinkSync("../run/systemd/resolve/stub-resolv.conf", link);
		writeResolvers(resolvers, link);
		expect(lstatSync(resolvers).isFile()).toBe(true);
		expect(readFileSync(resolvers, "utf8")).toBe("nameserver 127.0.0.53\noptions edns0\n");
		const words = systemArguments(HOLDER_DESCRIPTORS.files, resolvers);
		expect(words.slice(words.indexOf(resolvers) - 1).slice(0, 3)).toEqual(["--ro-bind", resolvers, "/etc/resolv.conf"]);
	});

	it("has resolvers that the sandbox's own user may read, whatever the mode on the machine", () => {
		writeFileSync(join(folder, "resolv.conf"), "nameserver 192.0.2.1\n");
		chmodSync(join(folder, "resolv.conf"), 0o600);
		writeResolvers(resolvers, join(folder, "resolv.conf"));
		expect(statSync(resolvers).mode & 0o777).toBe(0o644);
	});

	it.each([
		["has none", () => undefined],
		["has a link that leads nowhere", (file: string) => symlinkSync("/run/no/such/file", file)],
	])("has empty resolvers where the machine %s", (_what, make) => {
		const file = join(folder, "resolv.conf");
		make(file);
		writeResolvers(resolvers, file);
		expect(readFileSync(resolvers, "utf8")).toBe("");
	});

	it("has no resolvers unless it is given some", () => {
		expect(systemArguments(HOLDER_DESCRIPTORS.files).join(" ")).not.toContain("resolv.conf");
	});

	it("takes nothing of the machine's /etc but what holds no secret, read-only", () => {
		const words = systemArguments(HOLDER_DESCRIPTORS.files, resolvers);
		const fromMachine = words.filter((word, index) => word.startsWith("/etc/") && words[index - 1] === "--ro-bind-try");
		expect(fromMachine).not.toEqual(expect.arrayContaining(["/etc/shadow"]));
		expect(fromMachine.filter((path) => /shadow|ssh|sudo|private|secret|gss|krb|machine-id/.test(path))).toEqual([]);
		const options = words.filter((word) => word.startsWith("--"));
		expect(options.every((word) => /^--(ro-bind(-try)?|symlink|perms|file)$/.test(word))).toBe(true);
	});
});
