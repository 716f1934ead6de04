import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { entryCommand } from "../../../extensions/bwrap/entry/enter";
import type { Programs } from "../../../extensions/bwrap/preflight";
import type { BwrapRecord } from "../../../extensions/bwrap/record";
import { ProcessTable } from "../../../provider/identity";
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

	it("ends with 125 in another sandbox whose first process has the number, and runs nothing there", async () => {
		const { sandbox_id, generation } = box.record;
		const reused = { ...other.record, sandbox_id, generation };
		expect(await enterAs(reused, ["touch", "/workspace/trace"])).toMatchObject({ exitCode: 125, stdout: "" });
		expect(existsSync(join(other.workspace, "trace"))).toBe(false);
	});

	it("ends with 125 in another life of the sandbox", async () => {
		const earlier = { ...box.record, generation: box.record.generation - 1 };
		expect(await enterAs(earlier, ["touch", "/workspace/trace"])).toMatchObject({ exitCode: 125, stdout: "" });
		expect(existsSync(join(box.workspace, "trace"))).toBe(false);
	});

	it("leads nowhere where the number is now a process of the machine", async () => {
		const init = new ProcessTable().identify(place.any.pid);
		const { exitCode } = await enterAs({ ...box.record, init }, ["touch", join(place.home, "trace")]);
		expect(exitCode).not.toBe(0);
		expect(existsSync(join(place.home, "trace"))).toBe(false);
	});

	it("is not tried where the first process of the record does not run", async () => {
		const init = { ...(box.record.init ?? { boot_id: "", pid: 0 }), start_ticks: 1 };
		await expect(enterAs({ ...box.record, init }, ["true"])).rejects.toMatchObject({ code: "remains" });
	});

	it("is shut without the sandbox's own user", async () => {
		if (user.name !== "root") return;
		const { exitCode, stderr } = await enterAs({ ...box.record, own_uid: other.record.own_uid }, ["true"]);
		expect(exitCode).not.toBe(0);
		expect(stderr).toMatch(/nsenter: .*(not permitted|denied)/);
	});

	// Only root can be yet another user.
	(isRoot ? it : it.skip)("is shut to another user, by our own word", async () => {
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

	(isRoot ? it : it.skip)("is open to root, which becomes the sandbox's own user", async () => {
		const root = place.provider({ user: { name: "root", uid: undefined } });
		const { directory } = box;
		const command = ["sh", "-c", "cat /proc/self/uid_map; cat /proc/self/status"];
		const { stdout } = await root.do("enter", { directory, command, timeoutSeconds: 60 });
		expect(stdout).toMatch(new RegExp(`^ +0 +${box.record.own_uid ?? box.record.maker_uid} +1\n`));
		expect(stdout).toMatch(/^CapEff:\t0+$/m);
		expect((await root.do("waitReady", box.handle)).controls["isolation"]?.status).toBe("enforced");
	});

	it("tells a command that does not exist from one that ran", async () => {
		const { exitCode, stderr } = await place.enter(box, ["no-such-program"]);
		expect(exitCode).toBe(1);
		expect(stderr).toBe("bwrap: execvp no-such-program: No such file or directory\n");
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
	const record = (changes: Partial<BwrapRecord> = {}): BwrapRecord => ({
		record_version: 1,
		sandbox_id: "box",
		generation: 7,
		claim: 1,
		owner: { scope: "s", project: "p", stack: "s", urn: "u" },
		labels: {},
		digest: "d",
		phase: "ready",
		maker_uid: process.getuid?.() ?? 0,
		network: "deny",
		access: "rw",
		resources: { memory_mb: 64 },
		cgroups: [],
		created_at: "2026-01-01T00:00:00.000Z",
		ttl_seconds: 60,
		init: { boot_id: "b", pid: 4242, start_ticks: 1 },
		...changes,
	});
	const words = (changes: Partial<BwrapRecord> = {}, stray: number[] = []) =>
		entryCommand(programs, record(changes), ["make", "all"], stray).join(" ");

	it("bound processes and memory by rlimits where no control group does", () => {
		expect(words()).toContain("/bin/prlimit --core=1:1 --nproc=2048:2048 --data=67108864:67108864 /bin/nsenter");
		expect(words({ resources: {} })).toContain("/bin/prlimit --core=1:1 --nproc=2048:2048 /bin/nsenter");
	});

	it("join the control groups before anything is given up, and need no rlimit for what they bound", () => {
		const cgroups: BwrapRecord["cgroups"] = [
			{ controller: "pids", folder: "/sys/fs/cgroup/pids/a" },
			{ controller: "memory", folder: "/sys/fs/cgroup/memory/a" },
		];
		expect(words({ cgroups })).toMatch(
			/^\/bin\/setpriv --pdeathsig KILL \/bin\/sh -c .* join \/sys\/fs\/cgroup\/pids\/a\/tasks \/sys\/fs\/cgroup\/memory\/a\/tasks -- \/bin\/prlimit --core=1:1 \/bin\/nsenter /,
		);
		// A group of version 2 takes whole processes only.
		const unified = [{ controller: "all" as const, folder: "/sys/fs/cgroup/a" }];
		expect(words({ cgroups: unified })).toContain(" join /sys/fs/cgroup/a/cgroup.procs -- ");
		expect(words({ cgroups: cgroups.slice(0, 1) })).toContain("--core=1:1 --data=67108864:67108864 /bin/nsenter");
		expect(words({ cgroups: [{ controller: "all", folder: "/sys/fs/cgroup/a" }] })).toContain(
			"--core=1:1 /bin/nsenter",
		);
	});

	it("become the sandbox's own user, where it has one, and end with whoever entered", () => {
		expect(words({ own_uid: 1_900_000_000 })).toContain(
			"/bin/setpriv --reuid 1900000000 --regid 1900000000 --clear-groups --pdeathsig KILL /bin/nsenter -t 4242 -U",
		);
		expect(words()).toMatch(
			new RegExp(`^/bin/setpriv --pdeathsig KILL /bin/sh -c \\[ "\\$PPID" = ${process.pid} \\] \\|\\| exit`),
		);
	});

	it("run nothing where whoever entered is gone already", () => {
		const end = words({ init: { boot_id: "b", pid: process.pid, start_ticks: 1 } }).split(" /bin/prlimit ")[0] ?? "";
		const script = /-c (.*) join/.exec(end)?.[1] ?? "";
		const started = (by: readonly string[]) =>
			spawnSync(by[0] ?? "", [...by.slice(1), "sh", "-c", script, "join", "--", "echo", "ran"], { encoding: "utf8" })
				.stdout;
		expect(started(["setpriv"])).toBe("ran\n");
		expect(started(["sh", "-c", '"$@"; exit', "sh"])).toBe("");
	});

	it("leave the network namespace where the sandbox has none of its own", () => {
		expect(words({ network: "deny" })).toContain(" -n ");
		expect(words({ network: "allow" })).not.toContain(" -n ");
	});

	it("close what a command would inherit", () => {
		expect(words({}, [37, 251])).toContain("--seccomp 3 --args 37 --args 251 --clearenv");
	});

	it("end with the command, after the options", () => {
		expect(words()).toMatch(/ --chdir \/workspace -- make all$/);
	});
});
