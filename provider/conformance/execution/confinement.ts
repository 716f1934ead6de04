import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench } from "../bench";
import type { Case, Need } from "../case";
import { check, prints } from "./rows";

const PROCESS: readonly Need[] = ["process isolation"];

/** A case that holds for both users of a sandbox. */
function forBoth(
	name: string,
	script: string,
	stdout: string | RegExp,
	needs: readonly Need[] = PROCESS,
): readonly Case[] {
	return (["sandbox", "root"] as const).map((user) =>
		prints(`${name}, as ${user}`, script, stdout, { executionContext: { user } }, needs),
	);
}

const NOTHING = "0000000000000000";
const TIOCSTI = `import fcntl, termios, os
try:
    fd = os.open("/dev/tty", os.O_RDWR)
except OSError:
    fd = 0
try:
    for c in b"echo injected\\n":
        fcntl.ioctl(fd, termios.TIOCSTI, bytes([c]))
    print("pushed")
except OSError:
    print("refused")
`;
const VSOCK = `import socket
try:
    socket.socket(40, socket.SOCK_STREAM)
    print("made")
except OSError:
    print("refused")
`;

export const CONFINEMENT: readonly Case[] = [
	...forBoth(
		"has no capability",
		"grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | cut -f2 | sort -u",
		`${NOTHING}\n`,
	),
	...forBoth("can gain no rights", "grep NoNewPrivs /proc/self/status | cut -f2", "1\n"),
	...forBoth("has its system calls filtered", "grep '^Seccomp:' /proc/self/status | cut -f2", "2\n"),
	...forBoth("leaves no core file", "ulimit -c; ulimit -Hc", /^[01]\n[01]\n$/),
	...forBoth("has descriptors 0, 1 and 2, whatever the caller has open", "ls /proc/$$/fd; :", "0\n1\n2\n", []),
	...forBoth(
		"has no terminal",
		"for fd in 0 1 2; do [ ! -t $fd ] || echo $fd; done; (: </dev/tty) 2>/dev/null && echo tty || :",
		"",
		[],
	),
	...forBoth(
		"is in a session that began with it",
		"read -r line </proc/self/stat; set -- ${line##*) }; [ $4 -gt 0 ] && echo own || echo another",
		"own\n",
	),
	...forBoth(
		"cannot write to the kernel's settings",
		"for f in kernel/core_pattern vm/overcommit_memory fs/file-max kernel/hostname; do (echo x >/proc/sys/$f) 2>/dev/null && echo $f; done; :",
		"",
	),
	...forBoth(
		"has a /proc that cannot be written to",
		"for f in comm oom_score_adj; do (echo 1 >/proc/$$/$f) 2>/dev/null && echo $f; done; :",
		"",
	),
	...forBoth("cannot make a user namespace", "unshare -U true 2>/dev/null && echo made || :", ""),
	...forBoth(
		"cannot mount",
		"mkdir -p /tmp/point; mount -t tmpfs none /tmp/point 2>/dev/null && echo mounted || :",
		"",
	),
	...forBoth(
		"cannot change what the machine's programs are",
		"for d in / /usr /usr/bin /etc /dev /run/sbx; do (: >$d/kit-wrote) 2>/dev/null && echo $d; done; :",
		"",
	),
	...forBoth(
		"cannot read the machine's secrets",
		"cat /etc/shadow /etc/ssh/ssh_host_*_key 2>/dev/null; ls -A ~/.ssh /root 2>/dev/null; :",
		"",
	),
	...forBoth(
		"has devices of its own only",
		"for d in sda vda nvme0 mem kmem kvm fuse; do [ ! -e /dev/$d ] || echo $d; done",
		"",
	),
	{
		name: "has a root that is not the machine's",
		needs: PROCESS,
		run: async (bench) => {
			const map = (await bench.sh("cat /proc/self/uid_map", { executionContext: { user: "root" } }))
				.trim()
				.split(/\s+/);
			assert.equal(map[0], "0");
			assert.notEqual(map[1], "0", "root inside is root of the machine");
			assert.equal(map[2], "1", "it has more ids than one");
		},
	},
	...forBoth("has only a loopback interface, under deny", "sed 1,2d /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo\n", [
		"network deny",
	]),
	{
		name: "reaches nothing that listens on this machine, under deny",
		needs: ["network deny", "python3"],
		run: async (bench) => {
			const name = `kit-${process.pid}-${performance.now()}`;
			const servers = [
				createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1"),
				createServer((socket) => socket.end("hello")).listen({ path: `\0${name}` }),
			];
			await Promise.all(servers.map((server) => once(server, "listening")));
			const address = servers[0]?.address();
			const port = typeof address === "object" ? address?.port : undefined;
			const script = `import socket\nfor kind, to in ((socket.AF_INET, ("127.0.0.1", ${port})), (socket.AF_UNIX, "\\0${name}")):\n    try:\n        socket.socket(kind).connect(to)\n        print("reached", to)\n    except OSError:\n        pass\n`;
			try {
				check(await bench.execute(["python3", "-c", script]), { stdout: "" });
			} finally {
				for (const server of servers) server.close();
			}
		},
	},
	prints("cannot reach a virtual machine's host", "python3 -", "refused\n", { executionContext: { stdin: VSOCK } }, [
		...PROCESS,
		"python3",
	]),
	{
		name: "sees no file of this machine's own",
		run: async (bench) => {
			const folder = mkdtempSync(join(tmpdir(), "kit-own-"));
			try {
				chmodSync(folder, 0o755);
				writeFileSync(join(folder, "file"), "canary-file", { mode: 0o644 });
				assert.equal(
					await bench.sh('cat "$FILE" 2>/dev/null || :', { executionContext: { env: { FILE: join(folder, "file") } } }),
					"",
				);
			} finally {
				rmSync(folder, { recursive: true });
			}
		},
	},
	{
		name: "types nothing into the caller's terminal",
		needs: ["python3"],
		run: async (bench) => {
			for (const user of ["sandbox", "root"] as const) {
				const caller = bench.newCaller((command) => [
					"script",
					"--quiet",
					"--return",
					"--command",
					command.join(" "),
					"/dev/null",
				]);
				const command = ["python3", "-"];
				const options = { executionContext: { user, stdin: TIOCSTI } };
				check(await caller.do("execute", { handle: await bench.box(), command, options }), { stdout: "refused\n" });
				check(
					await caller.do("execute", { handle: await bench.box(), command: ["python3", "-c", TIOCSTI], options: {} }),
					{ stdout: "refused\n" },
				);
				assert.doesNotMatch(caller.printed, /injected/);
				await caller.end();
			}
		},
	},
	...["/tmp", "/dev/shm", "$HOME", "/run", "/run/secrets", "/var/tmp"].map((folder) => ({
		name: `bounds by the memory limit what ${folder} can take`,
		needs: ["a memory limit", ...PROCESS] as const,
		run: (bench: Bench) => fills(bench, folder),
	})),
	{
		name: "bounds by the memory limit what a process can take",
		needs: ["a memory limit", "python3"],
		run: async (bench) => {
			const handle = await bench.limited();
			const { exitCode } = await bench.execute(
				["python3", "-c", "x = bytearray(300_000_000); print(len(x))"],
				{},
				handle,
			);
			assert.notEqual(exitCode, 0);
			assert.equal(await bench.sh("echo well", {}, handle), "well\n");
		},
	},
];

/** 300 MB into a folder of a sandbox of 64 MiB: it is full before, and the sandbox goes on. */
async function fills(bench: Bench, folder: string): Promise<void> {
	const handle = await bench.limited();
	const script = `d=${folder}; [ -d "$d" ] || exit 0; head -c 300000000 /dev/zero 2>/dev/null >"$d/fill"; [ ! -e "$d/fill" ] || stat -c %s "$d/fill"; rm -f "$d/fill"`;
	for (const user of ["sandbox", "root"] as const) {
		const { stdout, exitCode } = await bench.execute(
			["sh", "-c", script],
			{ executionContext: { user }, timeoutSeconds: 60 },
			handle,
		);
		assert.equal(exitCode, 0, "the command was ended");
		assert.ok(Number(stdout.text) <= 64 * 1024 * 1024, `${folder} took ${stdout.text} bytes`);
	}
	assert.equal(await bench.sh("echo well", {}, handle), "well\n");
}
