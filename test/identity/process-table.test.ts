import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ProcessIdentity, ProcessTable, waitUntilDead } from "../../provider/identity";
import { until } from "../extensions/bwrap/support/until";

/** A folder like /proc, and the signals that would have been sent. */
class FakeProc {
	readonly folder = mkdtempSync(join(tmpdir(), "proc-"));
	readonly sent: [number, string][] = [];
	readonly table = new ProcessTable(this.folder, (pid, signal) => {
		this.sent.push([pid, signal]);
	});

	constructor() {
		mkdirSync(join(this.folder, "sys/kernel/random"), { recursive: true });
		this.boot("b-1");
	}

	boot(id: string): void {
		writeFileSync(join(this.folder, "sys/kernel/random/boot_id"), `${id}\n`);
	}

	process(pid: number, { name = "bwrap", state = "S", ticks = 900_100 } = {}): void {
		mkdirSync(join(this.folder, String(pid)), { recursive: true });
		// proc(5): after the state come the fields 4 to 21, then the start time, then the rest.
		const before = Array.from({ length: 18 }, (_, index) => 4 + index).join(" ");
		writeFileSync(join(this.folder, String(pid), "stat"), `${pid} (${name}) ${state} ${before} ${ticks} 777 888\n`);
	}
}

const OURS: ProcessIdentity = { boot_id: "b-1", pid: 4242, start_ticks: 900_100 };

describe("the process table", () => {
	let proc: FakeProc;
	beforeEach(() => {
		proc = new FakeProc();
	});
	afterEach(() => rmSync(proc.folder, { recursive: true }));

	it("knows a process by boot, number and start", () => {
		proc.process(4242);
		expect(proc.table.identify(4242)).toEqual(OURS);
		expect(proc.table.isAlive(OURS)).toBe(true);
		expect(proc.table.isAlive({ ...OURS, start_ticks: 900_101 })).toBe(false);
		expect(proc.table.isAlive({ ...OURS, boot_id: "b-2" })).toBe(false);
		expect(proc.table.isAlive({ ...OURS, pid: 4243 })).toBe(false);
		proc.boot("b-2");
		expect(proc.table.isAlive(OURS)).toBe(false);
	});

	it.each(["a b", "(bracket", "x) S 1 2 3", ") Z 0", "", ")", "( ( )", "a\nb"])(
		"is not led astray by the name %j",
		(name) => {
			proc.process(4242, { name });
			expect(proc.table.identify(4242)).toEqual(OURS);
		},
	);

	it.each(["Z", "X"])("counts a process in state %s as dead", (state) => {
		proc.process(4242, { state });
		expect(proc.table.identify(4242)).toBeUndefined();
		expect(proc.table.isAlive(OURS)).toBe(false);
		expect(proc.table.signal(OURS, "SIGKILL")).toBe(false);
		expect(proc.sent).toEqual([]);
	});

	it.each(["R", "S", "D", "T", "t", "I"])("counts a process in state %s as running", (state) => {
		proc.process(4242, { state });
		expect(proc.table.isAlive(OURS)).toBe(true);
	});

	it.each([0, 1, -1, -4242, 1.5, Number.NaN, 2 ** 53])("has no process %p to judge or to signal", (pid) => {
		for (const name of [0, 1, -1, -4242]) proc.process(name);
		expect(proc.table.isAlive({ ...OURS, pid })).toBe(false);
		for (const target of ["process", "group"] as const) {
			expect(proc.table.signal({ ...OURS, pid }, "SIGKILL", target)).toBe(false);
		}
		expect(proc.sent).toEqual([]);
	});

	it("signals exactly that process, or the group that it leads, and says so", () => {
		proc.process(4242);
		expect(proc.table.signal(OURS, "SIGUSR1")).toBe(true);
		expect(proc.table.signal(OURS, "SIGKILL", "group")).toBe(true);
		expect(proc.sent).toEqual([
			[4242, "SIGUSR1"],
			[-4242, "SIGKILL"],
		]);
	});

	it("leaves a stranger with the same number alone", () => {
		proc.process(4242, { name: "editor", ticks: 955_000 });
		expect(proc.table.signal(OURS, "SIGKILL", "group")).toBe(false);
		expect(proc.sent).toEqual([]);
	});

	it("takes a process that ends meanwhile for gone, and names one that it may not signal", () => {
		proc.process(4242);
		const failing = (code: string) =>
			new ProcessTable(proc.folder, () => {
				throw Object.assign(new Error(`kill ${code}`), { code, syscall: "kill" });
			});
		expect(failing("ESRCH").signal(OURS, "SIGKILL")).toBe(false);
		expect(() => failing("EPERM").signal(OURS, "SIGKILL")).toThrow(
			expect.objectContaining({ code: "unknown", message: expect.stringContaining("4242") as unknown }) as Error,
		);
	});

	it("waits for the death of all, and tells which ones are left when the time is up", async () => {
		proc.process(4242);
		proc.process(4243);
		const second = { ...OURS, pid: 4243 };
		setTimeout(() => rmSync(join(proc.folder, "4242"), { recursive: true }), 20);
		expect(await waitUntilDead(proc.table, [OURS, second], 3000)).toEqual([second]);
		expect(await waitUntilDead(proc.table, [OURS], 60_000)).toEqual([]);
	});
});

describe("the process table of this machine", () => {
	const children: ChildProcess[] = [];
	afterEach(() => {
		for (const child of children.splice(0)) child.kill("SIGKILL");
	});
	const start = (command: string, ...args: string[]): number => {
		const child = spawn(command, args, { stdio: "ignore" });
		children.push(child);
		return child.pid ?? 0;
	};

	it("knows this very process", () => {
		const table = new ProcessTable();
		const self = table.identify(process.pid);
		expect(self).toMatchObject({ pid: process.pid });
		expect(self !== undefined && table.isAlive(self)).toBe(true);
	});

	it("counts a zombie as dead, though a signal to it would succeed", async () => {
		const table = new ProcessTable();
		// The shell becomes a program that collects no children.
		const parent = start("sh", "-c", "sleep 1000 & exec sleep 1000");
		const childOf = () => readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim();
		await until("the child is there", () => childOf() !== "");
		const child = Number(childOf());
		const identity = table.identify(child);
		expect(identity).toBeDefined();
		process.kill(child, "SIGKILL");
		await until("it is a zombie", () => / \(.*\) Z /.test(readFileSync(`/proc/${child}/stat`, "utf8")));
		expect(process.kill(child, 0)).toBe(true);
		expect(identity !== undefined && table.isAlive(identity)).toBe(false);
		expect(table.identify(child)).toBeUndefined();
	});

	it("ends a group by the identity of its leader", async () => {
		const table = new ProcessTable();
		const leader = spawn("sh", ["-c", "sleep 1000 & wait"], { stdio: "ignore", detached: true });
		children.push(leader);
		const identity = table.identify(leader.pid ?? 0) as ProcessIdentity;
		const childOf = () => readFileSync(`/proc/${leader.pid}/task/${leader.pid}/children`, "utf8").trim();
		await until("the child is there", () => childOf() !== "");
		const child = table.identify(Number(childOf())) as ProcessIdentity;
		expect(table.signal(identity, "SIGKILL", "group")).toBe(true);
		expect(await waitUntilDead(table, [identity, child], 30_000)).toEqual([]);
		expect(table.signal(identity, "SIGKILL", "group")).toBe(false);
	});
});
