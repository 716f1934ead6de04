import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSupervisor } from "../../../extensions/bwrap/holder/supervisor";
import { ProcessTable } from "../../../provider/identity";
import { kill } from "../../support/kill";
import { processesOf, processesOfGroup } from "./support/traces";
import { until } from "./support/until";

const SUPERVISE = readFileSync(join(__dirname, "../../../extensions/bwrap/holder/supervise.sh"), "utf8");
const CLOCK = "/proc/uptime";
const AT_ONCE_MS = 10_000;

describe("the supervisor", () => {
	let folder: string;
	let control: string;
	let identity: string;
	let supervisor: ChildProcess | undefined;
	beforeEach(() => {
		supervisor = undefined;
		folder = mkdtempSync(join(tmpdir(), "supervise-"));
		control = join(folder, "control");
		identity = join(folder, "supervisor");
		mkdirSync(control);
	});
	afterEach(async () => {
		for (const pid of group()) kill(pid);
		await until("nothing is left", () => group().length === 0);
		rmSync(folder, { recursive: true });
	});

	/** All that runs in the group of the supervisor that a test started last. */
	const group = () => (supervisor?.pid === undefined ? [] : processesOfGroup(supervisor.pid));

	const uptime = () => Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
	const deadlineIn = (seconds: number) => `${Math.ceil(uptime()) + seconds}\n`;
	const held = () => processesOf(folder).filter(({ command }) => command.startsWith("sh -c held"));

	/** Starts it over a command that goes on for ever, told by its words. */
	function start(deadline: string | undefined, command: readonly string[] = []): ChildProcess {
		if (deadline !== undefined) writeFileSync(join(control, "deadline"), deadline);
		const held = ["sh", "-c", 'held() { sleep 1000; }; trap "" TERM; held', "sh", folder];
		const words = ["-c", SUPERVISE, "supervise", folder, CLOCK, ...(command.length === 0 ? held : command)];
		supervisor = spawn("sh", words, {
			detached: true,
			stdio: ["ignore", "ignore", "ignore", "ignore", "ignore", "ignore", "ignore"],
			env: { PATH: process.env["PATH"] },
		});
		return supervisor;
	}

	it("writes who it is before it starts anything", async () => {
		const { pid = 0 } = start(deadlineIn(1000));
		await until("the command runs", () => held().length === 1);
		expect(await readSupervisor(identity)).toEqual(new ProcessTable().identify(pid));
	});

	it.each([
		["is over", deadlineIn(-5)],
		["is missing", undefined],
		["is empty", ""],
		["is no number", "tomorrow\n"],
		["is negative", "-5\n"],
		["holds two words", "99999999 99999999\n"],
	])("ends all of it when the deadline %s", async (_what, deadline) => {
		const exit = once(start(deadline), "exit");
		expect(await exit).toEqual([null, "SIGKILL"]);
		await until("nothing is left", () => group().length === 0, AT_ONCE_MS);
	});

	it("ends all of it when the deadline comes", async () => {
		const before = Date.now();
		await once(start(deadlineIn(2)), "exit");
		expect(Date.now() - before).toBeGreaterThanOrEqual(1_900);
		await until("nothing is left", () => group().length === 0, AT_ONCE_MS);
	});

	it("reads the deadline anew when it is told to", async () => {
		const exit = once(start(deadlineIn(1000)), "exit");
		await until("the command runs", () => held().length === 1);
		writeFileSync(join(control, "new"), deadlineIn(0));
		renameSync(join(control, "new"), join(control, "deadline"));
		supervisor?.kill("SIGUSR1");
		await exit;
		await until("nothing is left", () => group().length === 0, AT_ONCE_MS);
	});

	it("reads a lost or damaged deadline as the end", async () => {
		const exit = once(start(deadlineIn(1000)), "exit");
		await until("the command runs", () => held().length === 1);
		rmSync(join(control, "deadline"));
		await exit;
		await until("nothing is left", () => group().length === 0, AT_ONCE_MS);
	});

	it("ends with the command", async () => {
		expect(await once(start(deadlineIn(1000), ["sh", "-c", "exit 3"]), "exit")).toEqual([null, "SIGKILL"]);
	});

	it("is not ended by the signal that tells it of a new deadline, however early it comes", async () => {
		for (let i = 0; i < 40; i++) {
			const child = start(deadlineIn(1000), ["sh", "-c", 'kill -USR1 "$PPID"; sleep 1000', "sh", folder]);
			let ended: unknown;
			const exit = once(child, "exit").then(([, signal]: (string | null)[]) => {
				ended = signal;
			});
			await until("the command runs", () => ended !== undefined || group().length >= 2);
			child.kill("SIGUSR1");
			await new Promise((resolve) => setTimeout(resolve, 20));
			expect(ended).toBeUndefined();
			for (const pid of group()) kill(pid);
			await exit;
		}
	});

	it("starts nothing where it has no sleep to pause with", async () => {
		writeFileSync(join(control, "deadline"), deadlineIn(1000));
		const words = ["-c", SUPERVISE, "supervise", folder, CLOCK, "/bin/touch", join(folder, "started")];
		const child = spawn("/bin/sh", words, {
			detached: true,
			stdio: ["ignore", "ignore", "pipe"],
			env: { PATH: control },
		});
		const said = once(child.stderr, "data").then(([text]) => String(text));
		expect(await once(child, "exit")).toEqual([1, null]);
		expect(await said).toBe("supervise: sleep is not on PATH\n");
		expect(readdirSync(folder)).toEqual(["control"]);
	});
});

describe("who the supervisor is, as it wrote itself", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "supervisor-"));
	});
	afterEach(() => rmSync(folder, { recursive: true }));
	const read = (text: string) => {
		writeFileSync(join(folder, "supervisor"), text);
		return readSupervisor(join(folder, "supervisor"));
	};
	/** proc(5): the fields after the name; the start time is the 22nd of all. */
	const stat = (name: string) =>
		`4242 (${name}) S ${Array.from({ length: 18 }, (_, i) => i + 4).join(" ")} 900100 7 8 9`;

	it.each(["sh", "a b", "x) S 1", "((", ") R 5 6"])(
		"is told by its number and its start, with the name %j",
		async (name) => {
			expect(await read(`b-1 ${stat(name)}\n`)).toEqual({ boot_id: "b-1", pid: 4242, start_ticks: 900_100 });
		},
	);

	it.each([
		["nothing", ""],
		["a blank line", "\n"],
		["the boot only", "b-1 "],
		["a line that was cut off", `b-1 ${stat("sh").slice(0, 30)}`],
		["something else", "no such thing as a process\n"],
	])("is unknown where there is %s", async (_what, text) => {
		expect(await read(text)).toBeUndefined();
	});

	it("is unknown where there is no file", async () => {
		expect(await readSupervisor(join(folder, "missing"))).toBeUndefined();
	});
});
