import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { entryCommand } from "../../../extensions/bwrap/entry/entry-command";
import type { Programs } from "../../../extensions/bwrap/preflight";
import type { BwrapRecord } from "../../../extensions/bwrap/record";
import { ProcessTable } from "../../../provider/identity";
import { aRecord } from "./support/a-record";
import { type Box, Place } from "./support/place";
import { Staged } from "./support/staged";
import { isRoot, otherUser, USERS } from "./support/users";

const staged = new Staged();
afterAll(() => staged.remove());

describe.each(USERS)("the way into a sandbox of $name", (user) => {
	let place: Place;
	let box: Box;
	let other: Box;
	beforeAll(async () => {
		place = new Place(staged, user);
		box = await place.make();
		other = await place.make({ sandboxId: "other" });
	});
	afterAll(async () => expect(await place.dispose()).toEqual([]));

	/** Enters as a record says that is not the one on the disk. */
	const enterAs = (record: BwrapRecord, command: readonly string[]) =>
		place.any.do("enter", { directory: box.directory, command, timeoutSeconds: 60, record: { ...record } });

	it("leads to the sandbox of the record", async () => {
		expect((await place.sh(box, "hostname; cat /run/sbx/id")).stdout).toBe(`box\nbox ${box.record.generation}\n`);
		expect((await enterAs(other.record, ["hostname"])).stdout).toBe("other\n");
	});

	const ELSEWHERE = {
		code: "conflict",
		message: expect.stringMatching(/now another sandbox's, or another life of it/),
	};

	it("ends in another sandbox whose first process has the number, and runs nothing there", async () => {
		const { sandbox_id, generation } = box.record;
		const reused = { ...other.record, sandbox_id, generation };
		await expect(enterAs(reused, ["touch", "/workspace/trace"])).rejects.toMatchObject(ELSEWHERE);
		expect(existsSync(join(other.workspace, "trace"))).toBe(false);
	});

	it("ends in another life of the sandbox", async () => {
		const earlier = { ...box.record, generation: box.record.generation - 1 };
		await expect(enterAs(earlier, ["touch", "/workspace/trace"])).rejects.toMatchObject(ELSEWHERE);
		expect(existsSync(join(box.workspace, "trace"))).toBe(false);
	});

	it("leads nowhere where the number is now a process of the machine", async () => {
		const init = new ProcessTable().identify(place.any.pid);
		await expect(enterAs({ ...box.record, init }, ["touch", join(place.home, "trace")])).rejects.toMatchObject({
			message: expect.stringMatching(/could not be started|now another sandbox's/),
		});
		expect(existsSync(join(place.home, "trace"))).toBe(false);
	});

	it("is not tried where the first process of the record does not run", async () => {
		const init = { ...(box.record.init ?? { boot_id: "", pid: 0 }), start_ticks: 1 };
		await expect(enterAs({ ...box.record, init }, ["true"])).rejects.toMatchObject({ code: "remains" });
	});

	it("is shut without the sandbox's own user", async () => {
		if (user.name !== "root") return;
		await expect(enterAs({ ...box.record, own_uid: other.record.own_uid }, ["true"])).rejects.toMatchObject({
			code: "unknown",
			message: expect.stringMatching(/nsenter: .*(not permitted|denied)/),
		});
	});

	// Only root can be yet another user.
	(isRoot ? it : it.skip)("is shut to another user, by our own word (needs root)", async () => {
		const stranger = place.provider({ user: otherUser });
		const { directory, record, handle } = box;
		const command = ["touch", "/workspace/trace"];
		await expect(
			stranger.do("enter", { directory, command, timeoutSeconds: 60, record: { ...record } }),
		).rejects.toMatchObject({
			code: "conflict",
			message: `Sandbox box was made by user id ${record.maker_uid}; user id ${otherUser.uid} may not enter it.`,
		});
		await expect(stranger.do("waitReady", handle)).rejects.toMatchObject({
			code: "unknown",
			hint: "Only the user that made a sandbox, or root, may use it.",
		});
		expect(existsSync(join(box.workspace, "trace"))).toBe(false);
	});

	(isRoot ? it : it.skip)("is open to root, which becomes the sandbox's own user (needs root)", async () => {
		const root = place.provider({ user: { name: "root", uid: undefined } });
		const { directory } = box;
		const command = ["sh", "-c", "cat /proc/self/uid_map; cat /proc/self/status"];
		const { stdout } = await root.do("enter", { directory, command, timeoutSeconds: 60 });
		expect(stdout).toMatch(new RegExp(`^ +0 +${box.record.own_uid ?? box.record.maker_uid} +1\n`));
		expect(stdout).toMatch(/^CapEff:\t0+$/m);
		expect((await root.do("waitReady", box.handle)).controls["isolation"]?.status).toBe("enforced");
	});

	it("tells a command that does not exist from one that ran", async () => {
		await expect(place.enter(box, ["no-such-program"])).rejects.toMatchObject({
			code: "not-started",
			message: 'The command "no-such-program" could not be started in sandbox box: it is not there.',
		});
	});

	it("hands words on as they are", async () => {
		const words = ["", " ", "*", "$HOME", "`id`", "a\nb", "--bind", "-c"];
		const { stdout } = await place.enter(box, ["printf", "<%s>", ...words]);
		expect(stdout).toBe(words.map((word) => `<${word}>`).join(""));
	});
});

describe("the words of an entry", () => {
	const programs: Programs = {
		bwrap: "/bin/bwrap",
		setpriv: "/bin/setpriv",
		nsenter: "/bin/nsenter",
		prlimit: "/bin/prlimit",
		flock: "/bin/flock",
		sh: "/bin/sh",
		sleep: "/bin/sleep",
	};
	const record = (changes: Partial<BwrapRecord> = {}) =>
		aRecord({
			generation: 7,
			maker_uid: process.getuid?.() ?? 0,
			resources: { memory_mb: 64 },
			init: { boot_id: "b", pid: 4242, start_ticks: 1 },
			...changes,
		});
	const COMMAND = { argv: ["make", "all"], user: "sandbox" } as const;
	const words = (changes: Partial<BwrapRecord> = {}, stray: number[] = []) =>
		entryCommand(programs, record(changes), COMMAND, { gate: "gate", filtered: "2,1,", stray }).join(" ");

	it("bound processes and memory by rlimits where no control group does", () => {
		expect(words()).toContain("/bin/prlimit --core=1:1 --nproc=2048:2048 --data=67108864:67108864 /bin/setpriv");
		expect(words({ resources: {} })).toContain("/bin/prlimit --core=1:1 --nproc=2048:2048 /bin/setpriv");
	});

	it("join the control groups before anything is given up, and need no rlimit for what they bound", () => {
		const cgroups: BwrapRecord["cgroups"] = [
			{ controller: "pids", folder: "/sys/fs/cgroup/pids/a" },
			{ controller: "memory", folder: "/sys/fs/cgroup/memory/a" },
		];
		expect(words({ cgroups })).toMatch(
			/^\/bin\/sh -c .*echo 0 >\/sys\/fs\/cgroup\/pids\/a\/tasks \|\| exit 126; echo 0 >\/sys\/fs\/cgroup\/memory\/a\/tasks .*; exec \/bin\/prlimit --core=1:1 \/bin\/setpriv .* enter -U /,
		);
		// A group of version 2 takes whole processes only.
		const unified = [{ controller: "all" as const, folder: "/sys/fs/cgroup/a" }];
		expect(words({ cgroups: unified })).toContain("echo 0 >/sys/fs/cgroup/a/cgroup.procs || exit 126; ");
		expect(words({ cgroups: cgroups.slice(0, 1) })).toContain("--core=1:1 --data=67108864:67108864 /bin/setpriv");
		expect(words({ cgroups: [{ controller: "all", folder: "/sys/fs/cgroup/a" }] })).toContain(
			"--core=1:1 /bin/setpriv",
		);
	});

	it("become the sandbox's own user, where it has one, and end with whoever entered", () => {
		expect(words({ own_uid: 1_900_000_000 })).toContain(
			'/bin/setpriv --reuid 1900000000 --regid 1900000000 --clear-groups --pdeathsig KILL /bin/nsenter -t "$pid" "$@"',
		);
		expect(words()).toContain('/bin/setpriv --pdeathsig KILL /bin/nsenter -t "$pid" "$@"');
	});

	it("give no signal at the parent's end to what is inside before bwrap asks for it", () => {
		expect(words().split(" enter -U ")[1]).not.toContain("pdeathsig");
	});

	describe("the gate", () => {
		const text = readFileSync(join(__dirname, "../../../extensions/bwrap/entry/gate.sh"), "utf8");
		// Here process 1 is the machine's: it may be filtered in another way.
		const asHere = text.replaceAll("seen_of 1", "seen_of self");

		/** What the command printed, and what the gate said, where the caller answers or is gone. */
		async function passed(
			answers: boolean,
			{ filtered = "in another way", gate = asHere } = {},
		): Promise<{ stdout: string; said: string }> {
			const stdio = ["ignore", "pipe", "inherit", "ignore", "ignore", "pipe"] as const;
			const child = spawn("sh", ["-c", gate, filtered, "echo", "ran"], { stdio: [...stdio] });
			const caller = (child.stdio as readonly unknown[])[5] as Duplex;
			let stdout = "";
			let said = "";
			child.stdout?.on("data", (chunk) => {
				stdout += String(chunk);
			});
			caller.on("data", (chunk) => {
				said += String(chunk);
				if (!answers) caller.end();
				else if (said === "here\n") caller.write("go\n");
			});
			await once(child, "close");
			return { stdout, said };
		}

		it("lets a command through once whoever entered has answered", async () => {
			expect(await passed(true)).toEqual({ stdout: "ran\n", said: "here\nstarted\n" });
		});

		it("knows by one look that bwrap's first process is filtered as it should be", async () => {
			const lines = readFileSync("/proc/self/status", "utf8").split("\n");
			const values = lines.filter((line) => line.startsWith("Seccomp")).map((line) => line.split(/\s+/)[1]);
			const gate = text.replace("seen_of self", "exit 9").replaceAll("seen_of 1", "seen_of self");
			const looked = passed(true, { filtered: `${values.join(",")},`, gate });
			expect(await looked).toEqual({ stdout: "ran\n", said: "here\nstarted\n" });
		});

		it("runs nothing where whoever entered is gone", async () => {
			expect(await passed(false)).toEqual({ stdout: "", said: "here\n" });
		});
	});

	it("leave the network namespace where the sandbox has none of its own", () => {
		expect(words({ network: "deny" })).toContain(" -n ");
		expect(words({ network: "allow" })).not.toContain(" -n ");
	});

	it("close what a command would inherit", () => {
		expect(words({}, [37, 251])).toContain("--seccomp 3 --args 37 --args 251 --clearenv");
	});

	it("end with the command, after the options", () => {
		expect(words()).toMatch(/ --clearenv --args 4 -- \/bin\/sh -c gate 2,1, make all$/);
	});
});
