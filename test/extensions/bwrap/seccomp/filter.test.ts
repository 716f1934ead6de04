import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seccompFilter } from "../../../../extensions/bwrap/seccomp/filter";
import { type FilterArch, SYSCALLS } from "../../../../extensions/bwrap/seccomp/syscalls";
import { interpret } from "./interpreter";

const RESULTS = new Map([
	[0x80000000, "KILL_PROCESS"],
	[0x7fff0000, "ALLOW"],
	[0x00050001, "EPERM"],
	[0x00050026, "ENOSYS"],
	[0x00050061, "EAFNOSUPPORT"],
]);
const ERRNO = { ALLOW: 0, EPERM: 1, ENOTTY: 25, ENOSYS: 38, EAFNOSUPPORT: 97 };
const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003, arm: 0x40000028 };

/**
 * Calls that ordinary programs live on: read, write, mmap, pipe2, execve, kill, futex, exit_group,
 * openat, connect, getrandom, seccomp, execveat, ptrace; then fork and vfork, which only x64 has.
 */
const ORDINARY: Record<FilterArch, number[]> = {
	x64: [0, 1, 9, 293, 59, 62, 202, 231, 257, 42, 318, 317, 322, 101, 57, 58],
	arm64: [63, 64, 222, 59, 221, 129, 98, 94, 56, 203, 278, 277, 281, 117],
};

/**
 * The numbers that matter most, a second time, so that a slip in the table shows: clone3, unshare,
 * setns, keyctl, add_key, request_key, io_uring's three, userfaultfd, bpf, perf_event_open, mount.
 */
const DANGEROUS: Record<FilterArch, number[]> = {
	x64: [435, 272, 308, 250, 248, 249, 425, 426, 427, 323, 321, 298, 165],
	arm64: [435, 97, 268, 219, 217, 218, 425, 426, 427, 282, 280, 241, 40],
};

const NAMESPACE_FLAGS = {
	CLONE_NEWNS: 0x00020000,
	CLONE_NEWCGROUP: 0x02000000,
	CLONE_NEWUTS: 0x04000000,
	CLONE_NEWIPC: 0x08000000,
	CLONE_NEWUSER: 0x10000000,
	CLONE_NEWPID: 0x20000000,
	CLONE_NEWNET: 0x40000000,
};
const SIGCHLD = 17;
const THREAD_FLAGS = 0x3d0f00;
const IOCTL = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c, TCGETS: 0x5401 };
const AF = { UNIX: 1, INET: 2, INET6: 10, NETLINK: 16, PACKET: 17, ALG: 38, VSOCK: 40 };
const SOCK = { STREAM: 1, RAW: 3 };
const NETLINK = { ROUTE: 0, NETFILTER: 12 };
/** The kernel ignores the high half of the arguments tested here; the filter must do so too. */
const HIGH_BIT = 1n << 32n;
function numberOf(name: string, arch: FilterArch): number {
	const nr = SYSCALLS[name]?.[arch];
	if (nr === undefined) throw new Error(`The table has no number for ${name} on ${arch}.`);
	return nr;
}

describe.each<FilterArch>(["x64", "arm64"])("the seccomp filter for %s", (arch) => {
	const program = seccompFilter(arch);
	const answer = (nr: number, args: (number | bigint)[] = [], entry: number = AUDIT_ARCH[arch]) =>
		RESULTS.get(interpret(program, { arch: entry, nr, args }));
	const answerTo = (name: string, ...args: (number | bigint)[]) => answer(numberOf(name, arch), args);

	it("gives each system call of the table its answer", () => {
		const rows = Object.entries(SYSCALLS).filter(([, rule]) => rule[arch] !== undefined);
		const expected = Object.fromEntries(rows.map(([name, rule]) => [name, rule.answer]));
		expect(Object.fromEntries(rows.map(([name]) => [name, answerTo(name)]))).toEqual(expected);
		expect(rows).toHaveLength(arch === "x64" ? 61 : 57);
	});

	it("has no number twice in the table", () => {
		const numbers = Object.values(SYSCALLS).flatMap((rule) => rule[arch] ?? []);
		expect(new Set(numbers).size).toBe(numbers.length);
	});

	it("kills a process that enters by another architecture, whatever it calls", () => {
		const others = Object.values(AUDIT_ARCH).filter((other) => other !== AUDIT_ARCH[arch]);
		const numbers = [0, 1, numberOf("mount", arch), 0x40000000, 0xffffffff];
		const answers = others.flatMap((other) => numbers.map((nr) => answer(nr, [], other)));
		expect(new Set(answers)).toEqual(new Set(["KILL_PROCESS"]));
	});

	it("answers x32 calls with ENOSYS where they exist", () => {
		const answers = [0x40000000, 0x40000000 + 59, 0x40000000 + 272, 0xffffffff].map((nr) => answer(nr));
		expect(new Set(answers)).toEqual(new Set([arch === "x64" ? "ENOSYS" : "ALLOW"]));
		expect(answer(0x3fffffff)).toBe("ALLOW");
	});

	it.each(Object.entries(NAMESPACE_FLAGS))("refuses clone with %s", (_name, flag) => {
		expect(answerTo("clone", flag)).toBe("EPERM");
		expect(answerTo("clone", flag | SIGCHLD)).toBe("EPERM");
		expect(answerTo("clone", flag | THREAD_FLAGS)).toBe("EPERM");
		expect(answerTo("clone", HIGH_BIT | BigInt(flag))).toBe("EPERM");
	});

	it("allows clone for threads, forks, vforks and any exit signal", () => {
		const allowed = [0, THREAD_FLAGS, SIGCHLD, 0x4100 | SIGCHLD, 0x80, 0xff];
		expect(allowed.filter((flags) => answerTo("clone", flags) !== "ALLOW")).toEqual([]);
	});

	it("refuses ioctls that type into a terminal, and no others", () => {
		expect(answerTo("ioctl", 0, IOCTL.TIOCSTI)).toBe("EPERM");
		expect(answerTo("ioctl", 0, IOCTL.TIOCLINUX)).toBe("EPERM");
		expect(answerTo("ioctl", 0, HIGH_BIT | BigInt(IOCTL.TIOCSTI))).toBe("EPERM");
		expect(answerTo("ioctl", IOCTL.TIOCSTI, IOCTL.TCGETS, IOCTL.TIOCLINUX)).toBe("ALLOW");
	});

	it.each([
		["AF_UNIX", AF.UNIX, 0, "ALLOW"],
		["AF_INET", AF.INET, 0, "ALLOW"],
		["AF_INET6, with a protocol", AF.INET6, 6, "ALLOW"],
		["NETLINK_ROUTE", AF.NETLINK, NETLINK.ROUTE, "ALLOW"],
		["NETLINK_NETFILTER", AF.NETLINK, NETLINK.NETFILTER, "EAFNOSUPPORT"],
		["AF_VSOCK", AF.VSOCK, 0, "EAFNOSUPPORT"],
		["AF_VSOCK behind a high bit", HIGH_BIT | BigInt(AF.VSOCK), 0, "EAFNOSUPPORT"],
		["AF_PACKET", AF.PACKET, 0, "EAFNOSUPPORT"],
		["AF_ALG", AF.ALG, 0, "EAFNOSUPPORT"],
		["a family nobody knows", 0xffffffff, 0, "EAFNOSUPPORT"],
	])("keeps to the list of socket families: %s", (_name, domain, protocol, expected) => {
		expect(answerTo("socket", domain, SOCK.RAW, protocol)).toBe(expected);
	});

	it("refuses the numbers that matter most", () => {
		expect(DANGEROUS[arch].filter((nr) => answer(nr) === "ALLOW")).toEqual([]);
	});

	it("allows what ordinary programs call, and debuggers", () => {
		expect(ORDINARY[arch].filter((nr) => answer(nr) !== "ALLOW")).toEqual([]);
	});

	it("is a program the kernel loads: whole instructions, not too many, no jump out of it", () => {
		const count = program.length / 8;
		expect(program.length % 8).toBe(0);
		expect(count).toBeLessThanOrEqual(4096);
		for (let index = 0; index < count; index++) {
			const furthest = Math.max(program.readUInt8(index * 8 + 2), program.readUInt8(index * 8 + 3));
			expect(index + furthest + (index + 1 < count ? 1 : 0)).toBeLessThan(count);
		}
		expect(program.readUInt16LE(program.length - 8)).toBe(0x06);
	});
});

it.each(["riscv64", "ia32", ""])("names the architectures there are when asked for %j", (arch) => {
	const message: unknown = expect.stringContaining("x64 and arm64");
	const error: Error = expect.objectContaining({ code: "unsupported", message });
	expect(() => seccompFilter(arch)).toThrow(error);
});

describe("the seccomp filter in a real bwrap", () => {
	const here = process.arch as FilterArch;
	const at = (name: string) => numberOf(name, here);
	// The only place to write is the /dev/shm of the sandbox's own /dev.
	const confinement =
		"--ro-bind / / --dev /dev --proc /proc --cap-drop ALL --unshare-user --die-with-parent --chdir /dev/shm --seccomp 3 --";
	let folder: string;

	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "sandboxer-seccomp-"));
		const missing = ["bwrap", "unshare", "git", "perl"].filter((tool) => spawnSync(tool, ["--version"]).error);
		if (missing.length > 0) throw new Error(`Not on PATH: ${missing.join(", ")}. Run scripts/toolchain.`);
		writeFileSync(join(folder, "filter"), seccompFilter(process.arch));
	});
	afterAll(() => rmSync(folder, { recursive: true }));

	function inSandbox(...command: string[]): SpawnSyncReturns<string> {
		// bwrap reads the filter from the descriptor's offset on, hence a new one each time.
		const filter = openSync(join(folder, "filter"), "r");
		try {
			return spawnSync("bwrap", [...confinement.split(" "), ...command], {
				stdio: ["ignore", "pipe", "pipe", filter],
				encoding: "utf8",
				env: { ...process.env, LC_ALL: "C" },
				timeout: 60_000,
			});
		} finally {
			closeSync(filter);
		}
	}

	/** The errno of each call (number, then arguments), 0 for success: perl calls by number. */
	function errnos(calls: number[][]): number[] {
		const script = `for (@ARGV) {
      my ($nr, @args) = map { $_ + 0 } split /,/;
      print syscall($nr, @args) == -1 ? $! + 0 : 0, " ";
    }`;
		const result = inSandbox("perl", "-e", script, ...calls.map((call) => call.join(",")));
		expect(result).toMatchObject({ stderr: "", status: 0 });
		return result.stdout.trim().split(" ").map(Number);
	}

	it("is in force", () => {
		expect(inSandbox("cat", "/proc/self/status").stdout).toMatch(/^Seccomp:\t2$/m);
	});

	it("refuses a new user namespace", () => {
		const result = inSandbox("unshare", "-U", "true");
		expect(result.status).toBe(1);
		expect(result.stderr).toContain("Operation not permitted");
	});

	it("makes the kernel give each refused system call of the table its errno", () => {
		const rows = Object.entries(SYSCALLS).filter(([, rule]) => rule.answer !== "ALLOW" && rule[here] !== undefined);
		const got = errnos(rows.map(([name]) => [at(name), 0, 0, 0, 0, 0, 0]));
		expect(Object.fromEntries(rows.map(([name], index) => [name, got[index]]))).toEqual(
			Object.fromEntries(rows.map(([name, rule]) => [name, ERRNO[rule.answer]])),
		);
	});

	it("makes the kernel refuse clone, ioctl and socket by their arguments only", () => {
		const [clone, ioctl, socket, socketpair] = [at("clone"), at("ioctl"), at("socket"), at("socketpair")];
		const calls: [number[], number][] = [
			[[clone, NAMESPACE_FLAGS.CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0], ERRNO.EPERM],
			// Standard input is /dev/null: what the filter lets through fails with ENOTTY.
			[[ioctl, 0, IOCTL.TIOCSTI, 0], ERRNO.EPERM],
			[[ioctl, 0, IOCTL.TIOCLINUX, 0], ERRNO.EPERM],
			[[ioctl, 0, IOCTL.TCGETS, 0], ERRNO.ENOTTY],
			[[socket, AF.VSOCK, SOCK.STREAM, 0], ERRNO.EAFNOSUPPORT],
			[[socket, AF.PACKET, SOCK.RAW, 0], ERRNO.EAFNOSUPPORT],
			[[socketpair, AF.VSOCK, SOCK.STREAM, 0], ERRNO.EAFNOSUPPORT],
			[[socket, AF.ALG, SOCK.RAW, 0], ERRNO.EAFNOSUPPORT],
			[[socket, AF.NETLINK, SOCK.RAW, NETLINK.NETFILTER], ERRNO.EAFNOSUPPORT],
			[[socket, AF.NETLINK, SOCK.RAW, NETLINK.ROUTE], 0],
			[[socket, AF.UNIX, SOCK.STREAM, 0], 0],
			[[socket, AF.INET, SOCK.STREAM, 0], 0],
		];
		expect(errnos(calls.map(([call]) => call))).toEqual(calls.map(([, errno]) => errno));
	});

	it("lets a shell fork, pipe and wait", () => {
		const result = inSandbox("sh", "-c", "(sleep 0; echo one) & wait; echo two | cat");
		expect(result).toMatchObject({ status: 0, stdout: "one\ntwo\n", stderr: "" });
	});

	it("lets git make a repository", () => {
		expect(inSandbox("git", "init", "--quiet", "made")).toMatchObject({ status: 0, stderr: "" });
	});

	it("lets node start threads and children and list the network interfaces", () => {
		const script = `
      const { Worker } = require("node:worker_threads");
      const interfaces = typeof require("node:os").networkInterfaces();
      const child = require("node:child_process").execFileSync("echo", ["child"], { encoding: "utf8" });
      const worker = new Worker("require('node:worker_threads').parentPort.postMessage('thread')", { eval: true });
      worker.on("message", (message) => console.log(interfaces, child.trim(), message));`;
		const result = inSandbox(process.execPath, "-e", script);
		expect(result).toMatchObject({ status: 0, stdout: "object child thread\n", stderr: "" });
	});
});
