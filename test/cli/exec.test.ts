import { once } from "node:events";
import { statSync } from "node:fs";
import { Desk, until } from "./support/desk";

describe("exec", () => {
	const desk = new Desk();
	beforeEach(() => {
		desk.clear();
		desk.box("box");
	});
	afterEach(() => expect(desk.processes()).toEqual([]));
	afterAll(() => desk.dispose());

	const sh = (script: string, ...options: string[]) => ["exec", ...options, "box", "--", "sh", "-c", script];

	it("passes both outputs and the exit status on", async () => {
		expect(await desk.run(sh("echo out; echo err >&2; exit 7"))).toEqual({ code: 7, stdout: "out\n", stderr: "err\n" });
		expect((await desk.run(["exec", "box", "--", "true"])).code).toBe(0);
	});

	it("what stands after -- is the command's, whatever it looks like", async () => {
		const { code, stdout } = await desk.run([
			"exec",
			"box",
			"--",
			"printf",
			"%s|",
			"--json",
			"--",
			"-h",
			"a b",
			"",
			"$HOME",
		]);
		expect([code, stdout]).toEqual([0, "--json|--|-h|a b||$HOME|"]);
	});

	it.each([
		["SIGTERM by itself", "kill -TERM $$", 143],
		["a status of its own that looks like ours", "exit 125", 125],
	])("%s: %s → %d", async (_what, script, code) => {
		// ext.paper tells no signal: a shell in between gives 128 + n, as the contract has it.
		expect((await desk.run(sh(`sh -c '${script}'; exit $?`))).code).toBe(code);
	});

	it("the time limit: 124", async () => {
		const { code, stdout } = await desk.run(sh("echo begun; sleep 60", "--timeout", "1s"));
		expect([code, stdout]).toEqual([124, "begun\n"]);
	});

	it.each([
		["is not there", ["exec", "box", "--", "no-such-program"], 127],
		["may not be run", ["exec", "box", "--", "/etc/passwd"], 126],
		["has no sandbox", ["exec", "nobody", "--", "true"], 125],
		["is refused by the contract", ["exec", "--cwd", "/etc", "box", "--", "true"], 125],
	])("a command that %s: an error and our status", async (_what, args, code) => {
		const ended = await desk.run(args);
		expect([ended.code, ended.stdout]).toEqual([code, ""]);
		expect(ended.stderr).toMatch(/^error: /);
	});

	it("--env, --user and --cwd get there", async () => {
		const { stdout } = await desk.run(
			[
				"exec",
				"-e",
				"A=1=2",
				"-e",
				"FROM_HERE",
				"--user",
				"root",
				"--cwd",
				"src",
				"box",
				"--",
				"sh",
				"-c",
				'echo "$A $FROM_HERE"',
			],
			{ env: { FROM_HERE: "here" } },
		);
		expect(stdout).toBe("1=2 here\n");
		expect(desk.calls().at(-1)).toMatchObject({ user: "root", cwd: "/workspace/src" });
	});

	it("--credential: its value reaches the command, and nothing else", async () => {
		const env = { SANDBOXER_SECRET_DB: "canary-of-db" };
		const { code, stdout } = await desk.run(
			["exec", "--credential", "DB", "box", "--", "sh", "-c", 'printf %s "$DATABASE_URL" | wc -c'],
			{ env },
		);
		expect([code, stdout]).toEqual([0, "12\n"]);
		expect((await desk.run(sh('echo "[$DATABASE_URL]"'), { env })).stdout).toBe("[]\n");
		const { code: without, stderr } = await desk.run(["exec", "--credential", "DB", "box", "--", "true"]);
		expect([without, stderr]).toEqual([125, expect.stringContaining("Set SANDBOXER_SECRET_DB")]);
	});

	it("standard input is passed on, whole", async () => {
		const input = "x".repeat(3_000_000);
		expect((await desk.run(["exec", "box", "--", "wc", "-c"], { input })).stdout.trim()).toBe("3000000");
		expect((await desk.run(["exec", "box", "--", "cat"], { input: "" })).stdout).toBe("");
	});

	it("a standard input that nobody closes does not keep it", async () => {
		expect(await desk.run(sh("echo done"), { input: "open" })).toEqual({ code: 0, stdout: "done\n", stderr: "" });
	});

	it("a handle on standard input is not the command's input", async () => {
		const input = JSON.stringify({ handle: desk.box("other") });
		expect((await desk.run(["exec", "-", "--", "cat"], { input })).stdout).toBe("");
	});

	it("output that is no text is passed on as it is, all of it", async () => {
		const { child, ended } = desk.start(desk.complete(["exec", "box", "--", "head", "-c", "20000000", "/dev/zero"]));
		let bytes = 0;
		child.stdout.removeAllListeners("data");
		child.stdout.on("data", (chunk: Buffer) => {
			bytes += chunk.length;
		});
		expect((await ended).code).toBe(0);
		expect(bytes).toBe(20_000_000);
	});

	it("whoever reads slowly holds the command back", async () => {
		const { child } = desk.start(desk.complete(sh("while :; do head -c 65536 /dev/zero; echo . >>written; done")));
		child.stdout.pause();
		await until("something was written", () => desk.has("written"));
		const written = () => statSync(`${desk.paper}/written`).size;
		let before = -1;
		let still = 0;
		await until("it does not go on", () => {
			const now = written();
			still = now === before ? still + 1 : 0;
			before = now;
			return still > 25;
		});
		expect(before / 2).toBeLessThan((8 * 1024 * 1024) / 65536);
		child.kill("SIGINT");
		child.stdout.resume();
		await once(child, "close");
	});

	it("the reader went away: the command is ended, 141", async () => {
		const { child, ended } = desk.start(desk.complete(sh("yes")));
		await once(child.stdout, "data");
		child.stdout.destroy();
		expect(await ended).toMatchObject({ code: 141 });
	});

	it.each([
		["SIGINT", 130],
		["SIGTERM", 143],
	] as const)("%s ends the command there, and is passed on: %d", async (signal, code) => {
		const { child, ended, printed } = desk.start(desk.complete(sh("trap '' INT TERM; echo begun; sleep 300")));
		await until("it runs", () => printed().includes("begun"));
		child.kill(signal);
		expect(await ended).toEqual({ code, stdout: "begun\n", stderr: "" });
	});

	it("--json: the result as the one document, and the same exit status", async () => {
		const { code, document } = await desk.json(sh("echo out; printf 'e\\377' >&2; exit 3"));
		expect(code).toBe(3);
		expect(document).toMatchObject({
			sandboxId: "box",
			extension: "ext.paper",
			exitCode: 3,
			signal: null,
			timedOut: false,
			durationMs: expect.any(Number),
			stdout: { text: "out\n", truncated: false, bytes: 4, isText: true },
			stderr: { text: "e\ufffd", truncated: false, bytes: 2, isText: false },
		});
	});

	it("--json: an error is the document", async () => {
		const { code, document } = await desk.json(["exec", "box", "--", "no-such-program"]);
		expect([code, document]).toMatchObject([127, { error: { code: "not-started" } }]);
	});
});
