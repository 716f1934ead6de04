import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ProcessTable } from "../../provider/identity";
import { Desk, until } from "./support/desk";

interface Exec {
	readonly execId: string;
	readonly state: string;
	readonly exitCode: number | null;
	readonly stopped: boolean;
	readonly folder: string;
	readonly stdout: { readonly bytes: number; readonly kept: number } | null;
	readonly error: { readonly code: string } | null;
}

describe("exec in the background", () => {
	const desk = new Desk();
	const table = new ProcessTable();
	beforeEach(() => {
		desk.clear();
		rmSync(desk.state, { recursive: true, force: true });
		desk.box("box");
	});
	afterEach(async () => {
		for (const keeper of desk.keepers()) table.signal(keeper, "SIGTERM");
		await until("nothing runs any more", () => desk.processes().length === 0);
	});
	afterAll(() => desk.dispose());

	const begin = async (script: string, ...options: string[]): Promise<Exec> => {
		const { document, code } = await desk.json<{ exec: Exec }>([
			"exec",
			"--detach",
			...options,
			"box",
			"--",
			"sh",
			"-c",
			script,
		]);
		expect(code).toBe(0);
		return document.exec;
	};
	/** The command has said so: whoever begins it may return before. */
	const untilBegun = ({ folder }: Exec) =>
		until("it has begun", () => readFileSync(join(folder, "stdout"), "utf8") === "begun\n");
	/** One that has come to its end. */
	const past = async (script: string): Promise<Exec> => {
		const exec = await begin(script);
		await desk.run(["exec", "--attach", exec.execId]);
		return exec;
	};
	const listed = async () => (await desk.json<{ execs: Exec[] }>(["exec", "--list"])).document.execs;
	const only = async () => (await listed())[0];

	it("--detach prints an id, --attach its output and exit status", async () => {
		const { code, stdout, stderr } = await desk.run([
			"exec",
			"-d",
			"box",
			"--",
			"sh",
			"-c",
			"echo out; echo err >&2; exit 5",
		]);
		expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^x[0-9a-f]{8}\n$/), ""]);
		expect(await desk.run(["exec", "--attach", stdout.trim()])).toEqual({ code: 5, stdout: "out\n", stderr: "err\n" });
		expect(await desk.run(["exec", "--attach", stdout.trim()])).toMatchObject({ code: 5, stdout: "out\n" });
	});

	it("whoever started it may be gone: it is in a session of its own", async () => {
		const { execId } = await begin("echo begun; while [ ! -e go ]; do sleep 0.05; done; echo ended");
		const [keeper] = desk.keepers();
		const stat = readFileSync(`/proc/${keeper?.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
		expect([stat[2], stat[3]]).toEqual([String(keeper?.pid), String(keeper?.pid)]);
		expect(await only()).toMatchObject({ execId, state: "running", exitCode: null });
		writeFileSync(join(desk.paper, "go"), "");
		expect(await desk.run(["exec", "--attach", execId])).toMatchObject({ code: 0, stdout: "begun\nended\n" });
	});

	it("--attach follows, and Ctrl-C leaves the command alone", async () => {
		const { execId } = await begin("n=0; while :; do n=$((n+1)); echo line $n; sleep 0.05; done");
		const { child, ended, printed } = desk.start(desk.complete(["exec", "--attach", execId]));
		await until("some lines came", () => printed().includes("line 5\n"));
		child.kill("SIGINT");
		expect((await ended).code).toBe(130);
		expect(await only()).toMatchObject({ state: "running" });
	});

	it("--from: nothing is lost and nothing comes twice, wherever it is cut", async () => {
		const { execId } = await begin("seq 1 2000; echo 12345 >&2");
		const { stdout } = await desk.run(["exec", "--attach", execId]);
		for (const offset of [0, 1, 4096, stdout.length - 1, stdout.length, stdout.length + 100]) {
			const rest = await desk.run(["exec", "--attach", execId, "--from", String(offset), "--from-stderr", "3"]);
			expect(rest).toEqual({ code: 0, stdout: stdout.slice(offset), stderr: "45\n" });
		}
	});

	it("--attach --json waits for the end and gives an excerpt", async () => {
		const { execId } = await begin("sleep 0.3; echo out; exit 4");
		const { code, document } = await desk.json(["exec", "--attach", execId]);
		expect(code).toBe(4);
		expect(document).toMatchObject({
			exec: { execId, state: "ended", exitCode: 4, stdout: { bytes: 4, kept: 4 } },
			output: { stdout: { text: "out\n", truncated: false } },
		});
	});

	it("--list shows them all, with how they ended", async () => {
		expect((await desk.run(["exec", "--list"])).stdout).toBe("No executions in the background.\n");
		await past("exit 9");
		await begin("sleep 60");
		const { stdout } = await desk.run(["exec", "--list"]);
		expect(stdout).toMatch(/^x[0-9a-f]{8} +box +ended +.*ago\) +9 +0 B +sh -c exit 9$/m);
		expect(stdout).toMatch(/^x[0-9a-f]{8} +box +running +.*sh -c sleep 60$/m);
	});

	it("--stop ends the command and its keeper; once more says that it had ended", async () => {
		const exec = await begin("trap '' TERM INT; echo begun; while :; do sleep 1; done");
		const { execId } = exec;
		const [keeper] = desk.keepers();
		await untilBegun(exec);
		expect(await desk.run(["exec", "--stop", execId])).toMatchObject({ code: 0, stdout: `${execId} was stopped.\n` });
		expect(keeper === undefined || table.isAlive(keeper)).toBe(false);
		expect(desk.processes()).toEqual([]);
		expect(await only()).toMatchObject({ state: "ended", stopped: true });
		expect(await desk.run(["exec", "--attach", execId])).toEqual({ code: 143, stdout: "begun\n", stderr: "" });
		expect((await desk.run(["exec", "--stop", execId])).stdout).toBe(`${execId} had ended already.\n`);
	});

	it("--stop never signals a process that only has the keeper's number", async () => {
		const { folder, execId } = await begin("sleep 60");
		const [keeper] = desk.keepers();
		const file = join(folder, "start.json");
		const start = JSON.parse(readFileSync(file, "utf8"));
		writeFileSync(
			file,
			JSON.stringify({ ...start, keeper: { ...start.keeper, start_ticks: start.keeper.start_ticks - 1 } }),
		);
		expect((await desk.run(["exec", "--stop", execId])).stdout).toBe(`${execId} had ended already.\n`);
		expect(keeper !== undefined && table.isAlive(keeper)).toBe(true);
		writeFileSync(file, JSON.stringify(start));
	});

	it("a keeper that was killed: the end is not known, and that is said", async () => {
		const exec = await begin("echo begun; sleep 5");
		const { execId } = exec;
		const [keeper] = desk.keepers();
		await untilBegun(exec);
		if (keeper !== undefined) table.signal(keeper, "SIGKILL");
		await until("it is gone", () => keeper === undefined || !table.isAlive(keeper));
		expect(await only()).toMatchObject({ state: "lost", exitCode: null });
		const { code, stdout, stderr } = await desk.run(["exec", "--attach", execId]);
		expect([code, stdout]).toEqual([125, "begun\n"]);
		expect(stderr).toContain(`How execution ${execId} ended is not known`);
	});

	it("the time limit holds in the background too", async () => {
		const { execId } = await begin("sleep 60", "--timeout", "1s");
		expect((await desk.run(["exec", "--attach", execId])).code).toBe(124);
	});

	it("a command that could not be started: its error and status, mostly at once, else by --attach", async () => {
		const begun = await desk.run(["exec", "--detach", "box", "--", "no-such-program"]);
		const told = begun.code === 0 ? await desk.run(["exec", "--attach", begun.stdout.trim()]) : begun;
		expect(told).toEqual({ code: 127, stdout: "", stderr: "error: no-such-program could not be started in box.\n" });
		expect(await only()).toMatchObject({ state: "ended", error: { code: "not-started" } });
	});

	it("its files are for this user's eyes, and hold no secret", async () => {
		const env = { SANDBOXER_SECRET_DB: "canary-of-db" };
		const { document } = await desk.json<{ exec: Exec }>(
			[
				"exec",
				"-d",
				"--credential",
				"DB",
				"-e",
				"TOKEN=canary-of-env",
				"box",
				"--",
				"sh",
				"-c",
				'while [ ! -e go ]; do sleep 0.05; done; printf %s "$DATABASE_URL$TOKEN" | wc -c; echo "<$DATABASE_URL>"',
			],
			{ env },
		);
		const { execId, folder } = document.exec;
		const [keeper] = desk.keepers();
		expect(readFileSync(`/proc/${keeper?.pid}/cmdline`, "utf8")).not.toContain("canary");
		writeFileSync(join(desk.paper, "go"), "");
		expect((await desk.run(["exec", "--attach", execId])).stdout).toBe("25\n<[credential]>\n");
		for (const name of ["start.json", "end.json", "stdout", "stderr"]) {
			expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
			expect(readFileSync(join(folder, name), "utf8")).not.toContain("canary");
		}
		expect(statSync(folder).mode & 0o777).toBe(0o700);
		expect(statSync(join(folder, "..")).mode & 0o777).toBe(0o700);
	});

	it("of each output the first 64 MiB are kept, the rest is counted", async () => {
		const { execId, folder } = await begin("head -c 70000000 /dev/zero; echo small >&2");
		const { code, stderr } = await desk.run(["exec", "--attach", execId, "--from", "67108800"]);
		expect(code).toBe(0);
		expect(stderr).toBe(
			`small\nerror: The last ${70_000_000 - 67_108_864} bytes of stdout of execution ${execId} were not kept (the bound of what is kept).\n`,
		);
		expect(statSync(join(folder, "stdout")).size).toBe(67_108_864);
		expect(await only()).toMatchObject({ stdout: { bytes: 70_000_000, kept: 67_108_864 } });
	});

	it("--forget removes the files of one that has ended, not of one that runs", async () => {
		const { execId } = await begin("sleep 60");
		expect(await desk.run(["exec", "--forget", execId])).toMatchObject({
			code: 125,
			stderr: expect.stringContaining("is still running"),
		});
		await desk.run(["exec", "--stop", execId]);
		expect((await desk.run(["exec", "--forget", execId])).code).toBe(0);
		expect(await listed()).toEqual([]);
		expect((await desk.run(["exec", "--attach", execId])).stderr).toContain(`There is no execution "${execId}"`);
	});

	it("what ended more than 7 days ago is removed when the next one starts", async () => {
		const [old, young] = [await past("exit 0"), await past("exit 0")];
		for (const [{ folder }, days] of [
			[old, 8],
			[young, 6],
		] as const) {
			const file = join(folder, "end.json");
			const end = JSON.parse(readFileSync(file, "utf8"));
			writeFileSync(file, JSON.stringify({ ...end, ended_at: new Date(Date.now() - days * 86_400_000).toISOString() }));
		}
		const next = await begin("exit 0");
		expect((await listed()).map(({ execId }) => execId).sort()).toEqual([young.execId, next.execId].sort());
	});

	it("a damaged one hides no other", async () => {
		const [bad, good] = [await past("exit 0"), await past("exit 0")];
		writeFileSync(join(bad.folder, "start.json"), "{");
		const { code, document } = await desk.json<{ execs: Exec[]; failures: object[] }>(["exec", "--list"]);
		expect([code, document.execs.map(({ execId }) => execId)]).toEqual([4, [good.execId]]);
		expect(document.failures).toHaveLength(1);
		await begin("exit 0");
		rmSync(bad.folder, { recursive: true });
	});

	it("an id that is a path is none", async () => {
		expect((await desk.run(["exec", "--forget", "../paper"])).stderr).toContain('There is no execution "../paper"');
	});
});
