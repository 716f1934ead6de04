import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_PATH, findPrograms, startFailure } from "../../../extensions/bwrap/preflight";
import { SandboxerError } from "../../../provider/errors";
import { findProgram } from "../../../provider/transport";

/** What bwrap 0.8 says itself → what is behind it, and the way out. */
const TEXTS: readonly (readonly [says: string, cause: RegExp, wayOut: RegExp])[] = [
	[
		"Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
		/namespaces are switched off .* or this already runs inside a sandbox/,
		/sysctl user\.max_user_namespaces=15000 user\.max_pid_namespaces=15000/,
	],
	[
		"No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces. See <https://deb.li/bubblewrap> or <file:///usr/share/doc/bubblewrap/README.Debian.gz>.",
		/kernel, this container's seccomp filter or a chroot/,
		/kernel\.unprivileged_userns_clone=1 .*seccomp=unconfined/,
	],
	[
		"Creating new namespace failed: Operation not permitted",
		/root without CAP_SYS_ADMIN/,
		/ordinary user, or give the container CAP_SYS_ADMIN/,
	],
	["setting up uid map: Operation not permitted", /lacks SETUID, SETGID or SETFCAP/, /ordinary user/],
	[
		"setting up uid map: Permission denied",
		/AppArmor .*kernel\.apparmor_restrict_unprivileged_userns=1/,
		/AppArmor profile with the userns permission.*kernel\.apparmor_restrict_unprivileged_userns=0/,
	],
	["setting up uid map: Read-only file system", /\/proc is read-only/, /where \/proc is writable/],
	["Can't mount proc on /newroot/proc: Operation not permitted", /\/proc are masked/, /systempaths=unconfined/],
	[
		"Can't find source path /root/.cache/box/workspace: Permission denied",
		/own user may not pass through a folder above its workspace/,
		/pulumi config set --path sandboxer:bwrap\.state_dir/,
	],
];

describe("a start that failed", () => {
	it.each(TEXTS)("for %j tells the cause and the way out", (says, cause, wayOut) => {
		const error = startFailure("box", `bwrap: ${says}\n`);
		expect(error).toBeInstanceOf(SandboxerError);
		expect(error.code).toBe("preflight");
		expect(error.message).toMatch(cause);
		expect(error.message).toMatch(/^Sandbox box could not be started with bwrap: /);
		expect(error.message).toContain(`bwrap said: bwrap: ${says}`);
		expect(error.hint).toMatch(wayOut);
		expect(error.hint).toMatch(/Nothing was run on the host instead\.$/);
	});

	it.each([
		["setpriv: setresuid failed: Invalid argument"],
		["setpriv: setgroups failed: Operation not permitted"],
		["setpriv: setresgid failed: Invalid argument"],
	])("for %j, of setpriv, names the missing mapping", (says) => {
		const error = startFailure("box", says);
		expect(error.message).toMatch(/user namespace that does not map it/);
		expect(error.hint).toMatch(/map user ids up to 2147352575/);
	});

	it("with words that nobody knows gives them as they are", () => {
		const error = startFailure("box", "bwrap: Unknown option --frobnicate\n");
		expect(error.message).toBe(
			"Sandbox box could not be started with bwrap: bwrap said: bwrap: Unknown option --frobnicate.",
		);
		expect(error.hint).toMatch(/^Try by hand: bwrap /);
	});

	it("without a word says that too", () => {
		expect(startFailure("box", " \n").message).toMatch(/it ended without a word\.$/);
	});

	it("keeps to the last lines of a long log, for the message and for the cause", () => {
		const log = `${"bwrap: setting up uid map: Permission denied\n".repeat(3)}${"noise\n".repeat(1000)}`;
		const error = startFailure("box", log);
		expect(error.message.length).toBeLessThan(200);
		expect(error.message).not.toMatch(/AppArmor/);
	});
});

describe("the programs", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "programs-"));
	});
	afterEach(() => rmSync(folder, { recursive: true }));
	const link = (...names: string[]) => {
		for (const name of names) symlinkSync(findProgram(name, DEFAULT_PATH) ?? "", join(folder, name));
	};

	it("are found on the PATH", () => {
		const found = findPrograms(process.env["PATH"] ?? DEFAULT_PATH);
		expect(Object.keys(found)).toEqual(
			expect.arrayContaining(["bwrap", "setpriv", "nsenter", "prlimit", "flock", "sh", "sleep"]),
		);
		expect(Object.values(found).every((file) => file.startsWith("/"))).toBe(true);
	});

	it("that are missing are named all at once, each with its Debian package once", () => {
		link("sh", "flock");
		expect(() => findPrograms(folder)).toThrow(
			expect.objectContaining({
				code: "preflight",
				message: expect.stringMatching(
					/^ext\.bwrap needs bwrap, setpriv, nsenter, prlimit, sleep, not found on PATH/,
				) as unknown,
				hint: expect.stringMatching(/^Install it: sudo apt-get install bubblewrap util-linux coreutils\.$/) as unknown,
			}) as Error,
		);
	});

	it("that are missing alone are named alone", () => {
		link("sh", "flock", "setpriv", "nsenter", "prlimit", "sleep");
		expect(() => findPrograms(folder)).toThrow(/^ext\.bwrap needs bwrap, not found on PATH/);
	});

	it("do not count where they cannot be run", () => {
		link("sh", "flock", "setpriv", "nsenter", "prlimit", "sleep");
		writeFileSync(join(folder, "bwrap"), "");
		chmodSync(join(folder, "bwrap"), 0o644);
		expect(() => findPrograms(folder)).toThrow(/needs bwrap/);
	});
});
