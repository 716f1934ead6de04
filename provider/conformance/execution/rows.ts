import assert from "node:assert/strict";
import type { ExecutionResult } from "../../contract";
import { type ErrorCode, SandboxerError } from "../../errors";
import type { Bench } from "../bench";
import type { Case, Need } from "../case";
import type { ExecuteOrder } from "../messages";

/** What a command is to end with; what is left out may be anything, but it is not ended at a limit. */
export interface Expected {
	readonly exitCode?: number | null;
	readonly timedOut?: boolean;
	readonly stdout?: string | RegExp;
	readonly stderr?: string | RegExp;
	readonly truncated?: boolean;
	/** Of standard output, all that was written. */
	readonly bytes?: number;
	readonly isText?: boolean;
}

/** A case: a command, and what it is to end with. */
export function runs(
	name: string,
	command: readonly string[],
	expected: Expected,
	options: ExecuteOrder = {},
	needs: readonly Need[] = [],
): Case {
	return { name, needs, run: async (bench) => check(await bench.execute(command, options), expected) };
}

/** A case: a shell script, and what it is to print. */
export function prints(
	name: string,
	script: string,
	stdout: string | RegExp,
	options: ExecuteOrder = {},
	needs: readonly Need[] = [],
): Case {
	return runs(name, ["sh", "-c", script], { stdout }, options, needs);
}

export function check(result: ExecutionResult, expected: Expected): void {
	const { exitCode = 0, timedOut = false } = expected;
	const said = `stdout ${JSON.stringify(result.stdout.text.slice(0, 300))}, stderr ${JSON.stringify(result.stderr.text.slice(0, 300))}`;
	assert.equal(result.timedOut, timedOut, `timedOut; ${said}`);
	assert.equal(result.exitCode, timedOut ? null : exitCode, `exit code; ${said}`);
	assert.equal(result.signal, timedOut ? "SIGKILL" : null);
	matches(result.stdout.text, expected.stdout);
	matches(result.stderr.text, expected.stderr);
	if (expected.truncated !== undefined) assert.equal(result.stdout.truncated, expected.truncated, "truncated");
	if (expected.bytes !== undefined) assert.equal(result.stdout.bytes, expected.bytes, "bytes");
	if (expected.isText !== undefined) assert.equal(result.stdout.isText, expected.isText, "isText");
}

function matches(text: string, wanted: string | RegExp | undefined): void {
	if (typeof wanted === "string") assert.equal(text, wanted);
	else if (wanted !== undefined) assert.match(text, wanted);
}

/** What an error is to be. */
export interface Refusal {
	readonly code: ErrorCode;
	/** Stands in its text, beside the sandbox's id. */
	readonly names: readonly string[];
}

/** A case: a command that is refused, naming what is wrong and the sandbox, and that did not run. */
export function refuses(name: string, command: readonly string[], refusal: Refusal, options: ExecuteOrder = {}): Case {
	return {
		name,
		run: async (bench) => {
			const { sandbox_id } = await bench.box();
			await rejected(bench.execute(command, options), { ...refusal, names: [...refusal.names, sandbox_id] });
			assert.equal(await bench.sh(LOOK), "", "it was run");
		},
	};
}

/** Leaves a trace where it is run. */
export const TOUCH = ["touch", "/workspace/ran"] as const;
const LOOK = "cd /workspace && for f in ran; do [ ! -e $f ] || { echo $f; rm $f; }; done";

/** That a promise fails with an error which says what it is to say, and no secret. */
export async function rejected(work: Promise<unknown>, { code, names }: Refusal): Promise<SandboxerError> {
	const outcome = await work.then(
		(value) => ({ value }),
		(error: unknown) => ({ error }),
	);
	assert.ok("error" in outcome, `it was not refused, and gave ${JSON.stringify(outcome)}`);
	const { error } = outcome;
	assert.ok(error instanceof SandboxerError, String(error));
	assert.equal(error.code, code, error.text);
	for (const name of names) assert.ok(error.text.includes(name), `${JSON.stringify(name)} is not in: ${error.text}`);
	assert.doesNotMatch(`${error.text} ${JSON.stringify(error.details)}`, /canary-/);
	return error;
}

/** That two values say the same. A test runner may give data of another process another Array than its own. */
export function same(actual: unknown, expected: unknown): void {
	assert.deepEqual(JSON.parse(JSON.stringify(actual)), JSON.parse(JSON.stringify(expected)));
}

/** That something is answered within its limit and 2 seconds more. */
export async function within<T>(seconds: number, work: () => Promise<T>): Promise<T> {
	const begun = performance.now();
	const result = await work();
	const took = (performance.now() - begun) / 1000;
	assert.ok(took < seconds + 2, `it took ${took.toFixed(1)} s, with a limit of ${seconds} s`);
	return result;
}

/** The shared sandbox can be used as before. */
export async function stillWell(bench: Bench): Promise<void> {
	assert.equal(await bench.sh("echo well"), "well\n");
}
