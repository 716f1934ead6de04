import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasCode } from "../../provider/errors";
import { type RunOptions, run } from "../../provider/transport";
import { processesOf, processesOfGroup } from "../extensions/bwrap/support/traces";
import { until } from "../extensions/bwrap/support/until";
import { kill } from "../support/kill";

const PATH = process.env["PATH"] ?? "";

describe("run", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "transport-run-"));
	});
	afterEach(() => {
		// Each leads a group, in which is what it started.
		for (const pid of processesOf(folder).flatMap(({ pid }) => processesOfGroup(pid))) kill(pid);
		rmSync(folder, { recursive: true });
	});

	const options = (changes: Partial<RunOptions> = {}): RunOptions => ({
		env: { PATH },
		signal: new AbortController().signal,
		timeoutSeconds: 60,
		...changes,
	});
	/** A shell script; the folder is its argument, so that its processes are told by it. */
	const sh = (script: string, changes: Partial<RunOptions> = {}) =>
		run("sh", ["-c", script, "sh", folder], options(changes));
	const left = () => processesOf(folder).map(({ command }) => command);

	it("gives what was printed and how it ended, whatever that was", async () => {
		expect(await sh("echo out; echo err >&2; exit 3")).toEqual({
			exitCode: 3,
			signal: null,
			stdout: "out\n",
			stderr: "err\n",
		});
		expect(await sh("kill -TERM $$")).toMatchObject({ exitCode: null, signal: "SIGTERM" });
	});

	it("hands on words as they are, and an environment of its own", async () => {
		const words = ["", " ", "*", "$HOME", "a\nb", "-n"];
		const { stdout } = await run("sh", ["-c", 'printf "<%s>" "$@"', "sh", ...words], options());
		expect(stdout).toBe("<>< ><*><$HOME><a\nb><-n>");
		expect((await run("env", [], options({ env: { PATH, ONLY: "1" } }))).stdout).toBe(`PATH=${PATH}\nONLY=1\n`);
		expect((await run("pwd", [], options())).stdout).toBe("/\n");
	});

	it("ends the whole group at the limit, and says so", async () => {
		const ended = sh('sleep 1000 & sh -c "sleep 1000; : $1" sh "$1" & : "$1"; wait', { timeoutSeconds: 1 });
		await expect(ended).rejects.toMatchObject({ code: "timeout", message: "sh did not end within 1 s." });
		await until("the group has ended", () => left().length === 0);
	});

	it("ends at the limit though what left the group still holds its output", async () => {
		const script = 'setsid sh -c "sleep 1000; : $1" sh "$1" & sleep 1000';
		await expect(sh(script, { timeoutSeconds: 1 })).rejects.toMatchObject({ code: "timeout" });
	});

	it("ends at the limit though it ended itself, and something else still holds its output", async () => {
		const script = 'setsid sh -c "sleep 1000; : $1" sh "$1" & exit 0';
		await expect(sh(script, { timeoutSeconds: 1 })).rejects.toMatchObject({ code: "timeout" });
	});

	it("does not start anything once it was stopped", async () => {
		const signal = AbortSignal.abort();
		await expect(sh('echo ran >"$1/trace"', { signal })).rejects.toMatchObject({ code: "aborted" });
		expect(() => readFileSync(join(folder, "trace"))).toThrow(/ENOENT/);
	});

	it("ends the whole group when it is stopped", async () => {
		const caller = new AbortController();
		const stopped = sh('sh -c "sleep 1000; : $1" sh "$1" & wait', { signal: caller.signal });
		await until("it runs", () => left().length > 1);
		caller.abort();
		await expect(stopped).rejects.toMatchObject({ code: "aborted" });
		await until("the group has ended", () => left().length === 0);
	});

	it("ends what prints too much, and keeps no more than the bound", async () => {
		const { exitCode, signal, stdout } = await sh("yes", { maxOutputBytes: 100_000 });
		expect({ exitCode, signal }).toEqual({ exitCode: null, signal: "SIGKILL" });
		expect(stdout.length).toBeLessThanOrEqual(100_000);
		const quiet = await sh("yes >&2", { maxOutputBytes: 100_000 });
		expect(quiet).toMatchObject({ exitCode: null, stdout: "" });
	});

	it("says which program is not there", async () => {
		const thrown = await run("no-such-program", [], options()).catch((error: unknown) => error);
		expect(hasCode(thrown, "timeout")).toBe(false);
		expect(String(thrown)).toContain("no-such-program");
	});
});
