import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

const LAUNCH = readFileSync(join(__dirname, "../../../extensions/bwrap/holder/launch.sh"), "utf8");

describe("a supervisor before its start", () => {
	let folder: string;
	let file: string;
	let trace: string;
	let children: ChildProcess[];
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "launch-"));
		file = join(folder, "lock");
		trace = join(folder, "trace");
		children = [];
	});
	afterEach(() => {
		for (const child of children) child.kill("SIGKILL");
		rmSync(folder, { recursive: true });
	});

	function launch(waitSeconds: number) {
		const lock = openSync(file, "w");
		const words = ["-s", "supervise", "flock", String(waitSeconds)];
		const child = spawn("sh", words, { stdio: ["pipe", "ignore", "ignore", "ignore", "pipe", lock] });
		closeSync(lock);
		children.push(child);
		const stdin = child.stdin as Writable;
		stdin.write(LAUNCH);
		return { stdin, word: once(child.stdio[4] as Readable, "data").then(String), exit: once(child, "exit") };
	}

	const isFree = () => spawnSync("flock", ["--nonblock", file, "true"]).status === 0;

	it("has the lock when it says so, and until it ends", async () => {
		const { stdin, word, exit } = launch(60);
		expect(await word).toBe("locked\n");
		expect(isFree()).toBe(false);
		stdin.end();
		expect(await exit).toEqual([0, null]);
		expect(isFree()).toBe(true);
	});

	it("goes on with what it is told", async () => {
		const { stdin, word, exit } = launch(60);
		await word;
		stdin.write(`{\nexec </dev/null\nset -- ${trace}\necho done >"$1"\nexit 3\n}\n`);
		expect(await exit).toEqual([3, null]);
		expect(readFileSync(trace, "utf8")).toBe("done\n");
	});

	it("does nothing of what it was told by half", async () => {
		const { stdin, word, exit } = launch(60);
		await word;
		stdin.end(`{\necho done >${trace}\n`);
		expect(await exit).not.toEqual([0, null]);
		expect(existsSync(trace)).toBe(false);
	});

	it("ends as flock does where somebody else keeps the lock, and does nothing", async () => {
		await launch(60).word;
		const { stdin, exit } = launch(1);
		stdin.end(`echo done >${trace}\n`);
		expect(await exit).toEqual([1, null]);
		expect(existsSync(trace)).toBe(false);
	});
});
