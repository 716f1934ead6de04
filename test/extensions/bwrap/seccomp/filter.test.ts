import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seccompFilter } from "../../../../extensions/bwrap/seccomp/filter";
import { type FilterArch, SYSCALLS } from "../../../../extensions/bwrap/seccomp/syscalls";
import { interpret } from "./interpreter";

const RESULTS: Record<number, string> = {
  0x80000000: "KILL_PROCESS",
  0x7fff0000: "ALLOW",
  0x00050001: "EPERM",
  0x00050026: "ENOSYS",
  0x00050061: "EAFNOSUPPORT",
};
const ERRNO = { ALLOW: 0, EPERM: 1, ENOTTY: 25, ENOSYS: 38, EAFNOSUPPORT: 97 };

const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003, arm: 0x40000028 };

/** Calls that ordinary programs live on; none of them has a row in the table. */
const ORDINARY: Record<string, { x64: number; arm64?: number }> = {
  read: { x64: 0, arm64: 63 },
  write: { x64: 1, arm64: 64 },
  mmap: { x64: 9, arm64: 222 },
  pipe2: { x64: 293, arm64: 59 },
  fork: { x64: 57 },
  vfork: { x64: 58 },
  execve: { x64: 59, arm64: 221 },
  kill: { x64: 62, arm64: 129 },
  futex: { x64: 202, arm64: 98 },
  exit_group: { x64: 231, arm64: 94 },
  openat: { x64: 257, arm64: 56 },
  connect: { x64: 42, arm64: 203 },
  getrandom: { x64: 318, arm64: 278 },
  seccomp: { x64: 317, arm64: 277 },
  execveat: { x64: 322, arm64: 281 },
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
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const TCGETS = 0x5401;
const AF = { UNIX: 1, INET: 2, INET6: 10, NETLINK: 16, PACKET: 17, ALG: 38, VSOCK: 40 };
const SOCK = { STREAM: 1, RAW: 3 };
const NETLINK = { ROUTE: 0, NETFILTER: 12, GENERIC: 16 };

function numberOf(name: string, arch: FilterArch): number {
  const nr = SYSCALLS[name]?.[arch];
  if (nr === undefined) throw new Error(`The table has no number for ${name} on ${arch}.`);
  return nr;
}

describe.each<FilterArch>(["x64", "arm64"])("the seccomp filter for %s", (arch) => {
  const program = seccompFilter(arch);
  const answer = (nr: number, args: (number | bigint)[] = []) =>
    RESULTS[interpret(program, { arch: AUDIT_ARCH[arch], nr, args })];
  const answerTo = (name: string, ...args: (number | bigint)[]) => answer(numberOf(name, arch), args);

  it("gives each system call of the table its answer", () => {
    const rows = Object.entries(SYSCALLS).filter(([, rule]) => rule[arch] !== undefined);
    const expected = Object.fromEntries(rows.map(([name, rule]) => [name, rule.answer]));
    expect(Object.fromEntries(rows.map(([name]) => [name, answerTo(name)]))).toEqual(expected);
    expect(rows.length).toBe(arch === "x64" ? 60 : 56);
  });

  it("has no number twice in the table", () => {
    const numbers = Object.values(SYSCALLS).flatMap((rule) => rule[arch] ?? []);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it("kills a process that enters by another architecture, whatever it calls", () => {
    for (const [name, other] of Object.entries(AUDIT_ARCH).filter(([name]) => name !== arch)) {
      for (const nr of [0, 1, numberOf("mount", arch), 0x40000000, 0xffffffff]) {
        expect([name, nr, RESULTS[interpret(program, { arch: other, nr })]]).toEqual([name, nr, "KILL_PROCESS"]);
      }
    }
  });

  it("answers x32 calls with ENOSYS where they exist", () => {
    for (const nr of [0x40000000, 0x40000000 + 59, 0x40000000 + 272, 0xffffffff]) {
      expect(answer(nr)).toBe(arch === "x64" ? "ENOSYS" : "ALLOW");
    }
    expect(answer(0x3fffffff)).toBe("ALLOW");
  });

  it.each(Object.entries(NAMESPACE_FLAGS))("refuses clone with %s", (_name, flag) => {
    expect(answerTo("clone", flag)).toBe("EPERM");
    expect(answerTo("clone", flag | SIGCHLD)).toBe("EPERM");
    expect(answerTo("clone", flag | THREAD_FLAGS)).toBe("EPERM");
    expect(answerTo("clone", (1n << 32n) | BigInt(flag))).toBe("EPERM");
  });

  it("allows clone for threads, forks and any exit signal", () => {
    for (const flags of [0, THREAD_FLAGS, SIGCHLD, 0x4100 | SIGCHLD, 0x01200000 | SIGCHLD, 0x80, 0xff]) {
      expect([flags, answerTo("clone", flags)]).toEqual([flags, "ALLOW"]);
    }
  });

  it("refuses ioctls that type into a terminal, and no others", () => {
    expect(answerTo("ioctl", 0, TIOCSTI)).toBe("EPERM");
    expect(answerTo("ioctl", 0, TIOCLINUX)).toBe("EPERM");
    expect(answerTo("ioctl", 0, (1n << 32n) | BigInt(TIOCSTI))).toBe("EPERM");
    expect(answerTo("ioctl", 0, TCGETS)).toBe("ALLOW");
    expect(answerTo("ioctl", TIOCSTI, TCGETS, TIOCLINUX)).toBe("ALLOW");
  });

  it("allows sockets of the local and internet families and of routing information", () => {
    for (const domain of [AF.UNIX, AF.INET, AF.INET6]) {
      expect(answerTo("socket", domain, SOCK.STREAM, 0)).toBe("ALLOW");
      expect(answerTo("socket", domain, SOCK.STREAM, 6)).toBe("ALLOW");
    }
    expect(answerTo("socket", AF.NETLINK, SOCK.RAW, NETLINK.ROUTE)).toBe("ALLOW");
  });

  it("knows no other socket family and no other netlink protocol", () => {
    for (const protocol of [NETLINK.NETFILTER, NETLINK.GENERIC, 1]) {
      expect(answerTo("socket", AF.NETLINK, SOCK.RAW, protocol)).toBe("EAFNOSUPPORT");
    }
    for (const domain of [0, AF.PACKET, AF.ALG, AF.VSOCK, 0xffffffff, 3, 9, 11, 15]) {
      expect([domain, answerTo("socket", domain, SOCK.STREAM, 0)]).toEqual([domain, "EAFNOSUPPORT"]);
    }
    expect(answerTo("socket", (1n << 32n) | BigInt(AF.VSOCK), SOCK.STREAM, 0)).toBe("EAFNOSUPPORT");
  });

  it("allows what ordinary programs call, and ptrace", () => {
    for (const [name, { [arch]: nr }] of Object.entries(ORDINARY)) {
      expect([name, nr === undefined ? "ALLOW" : answer(nr)]).toEqual([name, "ALLOW"]);
    }
    expect(answerTo("ptrace")).toBe("ALLOW");
  });

  it("is a program the kernel loads: whole instructions, not too many, no jump out of it", () => {
    expect(program.length % 8).toBe(0);
    const count = program.length / 8;
    expect(count).toBeLessThanOrEqual(4096);
    for (let index = 0; index < count; index++) {
      const isJump = (program.readUInt16LE(index * 8) & 0x07) === 0x05;
      const furthest = Math.max(program.readUInt8(index * 8 + 2), program.readUInt8(index * 8 + 3));
      expect(isJump ? index + 1 + furthest : index).toBeLessThan(count);
    }
    expect(program.readUInt16LE(program.length - 8)).toBe(0x06);
  });
});

it("there is no seccomp filter for other architectures, and the error names those there are", () => {
  for (const arch of ["riscv64", "ia32", "", "toString"]) {
    expect(() => seccompFilter(arch)).toThrow(/x64 and arm64/);
  }
});

describe("the seccomp filter in a real bwrap", () => {
  const folder = mkdtempSync(join(tmpdir(), "sandboxer-seccomp-"));
  const filterFile = join(folder, "filter");

  const here = process.arch as FilterArch;

  beforeAll(() => {
    for (const tool of ["bwrap", "unshare", "git", "perl"]) {
      if (spawnSync(tool, ["--version"]).error) {
        throw new Error(`${tool} cannot be run: scripts/toolchain installs what these tests need.`);
      }
    }
    writeFileSync(filterFile, seccompFilter(process.arch));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function inSandbox(...command: string[]): SpawnSyncReturns<string> {
    const root = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", folder, folder];
    const rights = ["--cap-drop", "ALL", "--unshare-user", "--die-with-parent", "--seccomp", "3"];
    // bwrap reads the filter from the descriptor's offset on, hence a new one each time.
    const filter = openSync(filterFile, "r");
    try {
      return spawnSync("bwrap", [...root, ...rights, "--chdir", folder, "--", ...command], {
        stdio: ["ignore", "pipe", "pipe", filter],
        encoding: "utf8",
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
    const rows = Object.entries(SYSCALLS).filter(
      ([, rule]) => rule.answer !== "ALLOW" && rule[here] !== undefined,
    );
    const got = errnos(rows.map(([name]) => [numberOf(name, here), 0, 0, 0, 0, 0, 0]));
    expect(Object.fromEntries(rows.map(([name], index) => [name, got[index]]))).toEqual(
      Object.fromEntries(rows.map(([name, rule]) => [name, ERRNO[rule.answer]])),
    );
  });

  it("makes the kernel refuse clone, ioctl and socket by their arguments only", () => {
    const [clone, ioctl] = [numberOf("clone", here), numberOf("ioctl", here)];
    const socket = numberOf("socket", here);
    const calls: [number[], number][] = [
      [[clone, NAMESPACE_FLAGS.CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0], ERRNO.EPERM],
      // Standard input is /dev/null: what the filter lets through fails with ENOTTY.
      [[ioctl, 0, TIOCSTI, 0], ERRNO.EPERM],
      [[ioctl, 0, TIOCLINUX, 0], ERRNO.EPERM],
      [[ioctl, 0, TCGETS, 0], ERRNO.ENOTTY],
      [[socket, AF.VSOCK, SOCK.STREAM, 0], ERRNO.EAFNOSUPPORT],
      [[socket, AF.PACKET, SOCK.RAW, 0], ERRNO.EAFNOSUPPORT],
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
    expect(inSandbox("git", "init", "--quiet", "repository")).toMatchObject({ status: 0, stderr: "" });
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
