import {
	chmodSync,
	copyFileSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { BwrapExtension } from "../../../../extensions/bwrap/handler";
import { writeResolvers } from "../../../../extensions/bwrap/holder/system-files";
import { profileSchema } from "../../../../provider/documents/profile";
import { SandboxerError } from "../../../../provider/errors";
import { bwrapHost, callFor, wish } from "../support/host";
import { listenOnLoopback, resolver } from "../support/host-services";
import { type Box, Place } from "../support/place";
import { Staged } from "../support/staged";
import { isRoot, USERS } from "../support/users";

interface Row {
	readonly with: string;
	readonly do: string;
	readonly expect: string;
	readonly error_names?: readonly string[];
	readonly not_run_on_host?: boolean;
}

const CASE = resolve(__dirname, "../../../cases/17-bwrap-on-a-real-host");
const ROWS = parse(readFileSync(join(CASE, "checks.yaml"), "utf8")) as readonly Row[];
const PROFILE = profileSchema.parse(parse(readFileSync(join(CASE, "profile.bwrap-local.yaml"), "utf8")));

/** The words of `exec [...]`. */
const wordsOf = ({ do: text }: Row) => JSON.parse(/exec (\[.*?\])/.exec(text)?.[1] ?? "[]") as string[];
const titleOf = (row: Row): readonly [string, Row] => [`with ${row.with}: ${row.do} → ${row.expect}`, row];
const rowsWith = (text: string) => ROWS.filter((row) => row.with.startsWith(text)).map(titleOf);

const staged = new Staged();
afterAll(() => staged.remove());

it("has a test for every row of the case", () => {
	const covered = ["fake-bwrap.sh", "/etc/resolv.conf", "network deny", "memory_mb 64", "any"].flatMap(rowsWith);
	expect(covered.map(([, row]) => row)).toEqual(ROWS);
});

describe.each(USERS)("case 17: bwrap on a real host, as $name", (user) => {
	let place: Place;
	beforeEach(() => {
		place = new Place(staged, user);
	});
	afterEach(async () => expect(await place.dispose()).toEqual([]));

	const make = (network: "deny" | "allow" = "deny"): Promise<Box> =>
		place.make({ profile: { ...PROFILE, network: { default: network } } });
	/** Runs a row's own words; what "expect" calls works is exit code 0. */
	const exec = (box: Box, row: Row) => place.enter(box, wordsOf(row));

	describe("with fake-bwrap.sh first in PATH", () => {
		let path: string;
		beforeEach(() => {
			const bin = join(place.folder, "bin");
			mkdirSync(bin);
			copyFileSync(join(CASE, "fake-bwrap.sh"), join(bin, "bwrap"));
			chmodSync(bin, 0o755);
			chmodSync(join(bin, "bwrap"), 0o755);
			path = `${bin}:${place.path}`;
		});

		it.each(rowsWith("fake-bwrap.sh").filter(([, row]) => row.do === "up"))("%s", async (_title, row) => {
			const error = await place.make({ profile: PROFILE }, place.provider({ path })).catch((thrown: unknown) => thrown);
			expect(error).toBeInstanceOf(SandboxerError);
			const { code, message, hint } = error as SandboxerError;
			expect(code).toBe("preflight");
			for (const name of row.error_names ?? []) expect(message).toContain(name);
			expect(hint).toContain("Nothing was run on the host instead.");
			expect(readdirSync(join(place.stateDir, "bwrap"))).toEqual([]);
		});

		it.each(rowsWith("fake-bwrap.sh").filter(([, row]) => row.do.startsWith("exec")))("%s", async (_title, row) => {
			// In this very process: a command on the host would be this process's own child.
			const trace = join(place.folder, "trace");
			const extension = new BwrapExtension(bwrapHost(join(place.folder, "own"), { ...process.env, PATH: path }));
			const call = callFor(new AbortController().signal);
			const { sandboxId, inputs } = wish();
			const request = {
				...call,
				sandboxId,
				owner: { scope: "", project: "", stack: "", urn: "" },
				digest: "",
				ttlSeconds: 60,
				labels: {},
			};
			await expect(extension.provision(PROFILE, inputs, "local", request)).rejects.toMatchObject({ code: "preflight" });
			const handle = {
				extension: "ext.bwrap",
				sandbox_id: sandboxId,
				host: "local",
				generation: 1,
				claim: 1,
				remote_dir: join(place.folder, "own/bwrap/box"),
			};
			for (const command of [wordsOf(row), ["touch", trace]]) {
				await expect(extension.execute(handle, command, {}, call)).rejects.toBeInstanceOf(SandboxerError);
			}
			expect(row.not_run_on_host).toBe(true);
			expect(existsSync(trace)).toBe(false);
		});
	});

	it.each(rowsWith("/etc/resolv.conf"))("%s", async (_title, row) => {
		const box = await make("allow");
		expect(row.expect).toBe("works");
		expect((await exec(box, row)).exitCode).toBe(0);
		// Port 53 is root's.
		if (!isRoot) return;
		const [address, machine] = ["127.20.30.41", join(place.folder, "machine")];
		mkdirSync(join(machine, "run"), { recursive: true });
		writeFileSync(join(machine, "run/stub-resolv.conf"), `nameserver ${address}\n`);
		symlinkSync("run/stub-resolv.conf", join(machine, "resolv.conf"));
		// What a create on such a machine would have bound.
		writeResolvers(join(box.directory, "resolv.conf"), join(machine, "resolv.conf"));
		const dns = await resolver(address, [192, 0, 2, 17]);
		try {
			expect((await place.sh(box, "getent hosts build.sandboxer.test")).stdout).toMatch(/^192\.0\.2\.17 /);
		} finally {
			await dns.close();
		}
	});

	it.each(rowsWith("network deny").filter(([, row]) => row.do.includes("/sys/class/net")))(
		"%s",
		async (_title, row) => {
			const box = await make();
			// There is no /sys inside at all: what the kernel itself tells of its interfaces counts.
			expect((await exec(box, row)).stdout).not.toMatch(/^(?!lo$)./m);
			const { stdout } = await place.sh(box, "sed -n 's/^ *\\([^ ]*\\):.*/\\1/p' /proc/net/dev");
			expect(`only ${stdout.trim()}`).toBe(row.expect);
		},
	);

	it.each(rowsWith("network deny").filter(([, row]) => row.do.includes("listener")))("%s", async (_title, row) => {
		const listener = await listenOnLoopback();
		try {
			const script =
				'socket(S, 2, 1, 0); connect(S, pack("S n C4 x8", 2, $ARGV[0], 127, 0, 0, 1)) ? print "open" : print $!';
			const { stdout } = await place.enter(await make(), ["perl", "-e", script, String(listener.port)]);
			expect(stdout.toLowerCase()).toContain(row.expect);
		} finally {
			await listener.close();
		}
	});

	it.each(rowsWith("memory_mb 64"))("%s", async (_title, row) => {
		expect(PROFILE.resources.memory_mb).toBe(64);
		const box = await make();
		const { exitCode, stderr } = await exec(box, row);
		expect(exitCode).not.toBe(0);
		expect(stderr).toMatch(/No space left on device/);
		expect(Number((await place.sh(box, "stat -c %s /tmp/x")).stdout)).toBeLessThanOrEqual(64 * 1024 * 1024);
		await place.any.do("waitReady", box.handle);
	});

	it.each(rowsWith("any"))("%s", async (_title, row) => {
		const { stdout, stderr } = await exec(await make(), row);
		expect(stdout).toBe("sandbox\n");
		expect(stderr).toMatch(/\/etc\/shadow: No such file or directory/);
		expect(stderr).toMatch(/\/home\/sandbox\/\.ssh': No such file or directory/);
	});
});
