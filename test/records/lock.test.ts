import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { withLock } from "../../provider/records";
import { Staged } from "../extensions/bwrap/support/staged";
import { until } from "../extensions/bwrap/support/until";
import { kill } from "../support/kill";

const PATH = process.env["PATH"] ?? "";

describe("withLock", () => {
	const staged = new Staged();
	const children: ChildProcess[] = [];
	let folder: string;
	let file: string;
	afterAll(() => staged.remove());
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "lock-"));
		file = join(folder, "sandbox.lock");
	});
	afterEach(() => {
		for (const child of children.splice(0)) child.kill("SIGKILL");
		rmSync(folder, { recursive: true });
	});

	const options = { what: "Sandbox demo", timeoutSeconds: 60, path: PATH };
	const here = <T>(work: () => Promise<T>, changes: { timeoutSeconds?: number; signal?: AbortSignal } = {}) =>
		withLock(file, { ...options, signal: new AbortController().signal, ...changes }, work);

	/** Another process that takes the lock and does some work under it; `held` is its first word. */
	function other(work: string): { child: ChildProcess; held: Promise<unknown>; ended: Promise<unknown[]> } {
		const modules = JSON.stringify(join(staged.folder, "provider/records"));
		const given = JSON.stringify({ ...options, timeoutSeconds: 100 });
		const script = `const fs = require("node:fs"); const pause = (ms) => new Promise((done) => setTimeout(done, ms));
			require(${modules}).withLock(${JSON.stringify(file)}, { ...${given}, signal: new AbortController().signal },
				async (lock) => { console.log("held"); ${work} }).catch((error) => { console.error(error); process.exit(1); });`;
		const child = spawn(staged.node, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
		children.push(child);
		const words = createInterface({ input: child.stdout });
		return { child, held: once(words, "line"), ended: once(child, "exit") };
	}

	it("lets one process work at a time", async () => {
		const counter = join(folder, "counter");
		writeFileSync(counter, "0");
		const work = `for (let i = 0; i < 3; i++) {
			const before = Number(fs.readFileSync(${JSON.stringify(counter)}, "utf8"));
			await pause(10);
			fs.writeFileSync(${JSON.stringify(counter)}, String(before + 1));
		}`;
		const ends = await Promise.all(Array.from({ length: 5 }, () => other(work).ended));
		expect(ends.map(([code]) => code)).toEqual([0, 0, 0, 0, 0]);
		expect(readFileSync(counter, "utf8")).toBe("15");
		expect(existsSync(file)).toBe(false);
	});

	it("excludes two calls of one process too", async () => {
		const order: string[] = [];
		const work = (name: string) => async () => {
			order.push(`${name} begins`);
			await new Promise((resolve) => setTimeout(resolve, 30));
			order.push(`${name} ends`);
		};
		await Promise.all([here(work("one")), here(work("two"))]);
		expect(order.map((line) => line.split(" ")[1])).toEqual(["begins", "ends", "begins", "ends"]);
	});

	it("is free again as soon as its holder is killed", async () => {
		const holder = other("await pause(1e6);");
		await holder.held;
		const waiting = here(() => Promise.resolve("mine"));
		holder.child.kill("SIGKILL");
		expect(await waiting).toBe("mine");
		expect(readdirSync(folder)).toEqual([]);
	});

	it("names the process that holds it when the wait is over, and leaves it its lock", async () => {
		const holder = other("await pause(1e6);");
		await holder.held;
		await expect(here(() => Promise.resolve(), { timeoutSeconds: 1 })).rejects.toMatchObject({
			code: "timeout",
			message: `Sandbox demo is being worked on by process ${holder.child.pid}, which has not let go for 1 s.`,
			details: { holder: String(holder.child.pid) },
		});
		expect(readFileSync(file, "utf8")).toBe(String(holder.child.pid));
	});

	it("stops waiting when the caller does", async () => {
		const holder = other("await pause(1e6);");
		await holder.held;
		const caller = new AbortController();
		const waiting = here(() => Promise.resolve(), { signal: caller.signal });
		setTimeout(() => caller.abort(), 50);
		await expect(waiting).rejects.toMatchObject({ code: "aborted" });
	});

	it("leaves no file when the caller had stopped before", async () => {
		await expect(here(() => Promise.resolve(), { signal: AbortSignal.abort() })).rejects.toMatchObject({
			code: "aborted",
		});
		expect(readdirSync(folder)).toEqual([]);
	});

	it("is let go, and its file removed, when the work fails", async () => {
		const failure = new Error("no luck");
		await expect(here(() => Promise.reject(failure))).rejects.toBe(failure);
		expect(readdirSync(folder)).toEqual([]);
		expect(await here(() => Promise.resolve(1))).toBe(1);
	});

	it("is let go where its file cannot be removed, and what the work failed of is told first", async () => {
		const failure = new Error("no luck");
		const obstructed = (end: () => void) =>
			here(async () => {
				rmSync(file);
				mkdirSync(file);
				end();
			});
		await expect(obstructed(() => undefined)).rejects.toThrow(/EISDIR/);
		rmSync(file, { recursive: true });
		await expect(
			obstructed(() => {
				throw failure;
			}),
		).rejects.toBe(failure);
		const open = spawnSync("ls", ["-l", `/proc/${process.pid}/fd`], { encoding: "utf8" }).stdout;
		expect(open).toContain("->");
		expect(open).not.toContain(file);
	});

	it("is held too by whoever got its descriptor, until that one lets go", async () => {
		const keeper = join(folder, "keeper");
		const work = `const { spawn } = require("node:child_process");
			spawn("sh", ["-c", "echo $$ >${keeper}; exec sleep 1000"], { stdio: ["ignore", "ignore", "ignore", lock.descriptor] }).unref();
			await pause(1e6);`;
		const holder = other(work);
		await holder.held;
		const pid = () => (existsSync(keeper) ? Number(readFileSync(keeper, "utf8")) : 0);
		try {
			await until("the descriptor was handed on", () => pid() !== 0);
			holder.child.kill("SIGKILL");
			await expect(here(() => Promise.resolve(), { timeoutSeconds: 1 })).rejects.toMatchObject({ code: "timeout" });
		} finally {
			if (pid() !== 0) kill(pid());
		}
		expect(await here(() => Promise.resolve("free"))).toBe("free");
	});

	it("does not follow a link that somebody put in its place", async () => {
		symlinkSync(join(folder, "elsewhere"), file);
		await expect(here(() => Promise.resolve())).rejects.toThrow(/ELOOP/);
		expect(existsSync(join(folder, "elsewhere"))).toBe(false);
	});
});
