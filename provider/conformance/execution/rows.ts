import assert from "node:assert/strict";
import type { ExecutionResult } from "../../contract";
import type { Bench } from "../bench";
import type { Case, Need } from "../case";
import { type Refusal, rejected } from "../judgement";
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

/** The shared sandbox can be used as before. */
export async function stillWell(bench: Bench): Promise<void> {
	assert.equal(await bench.sh("echo well"), "well\n");
}
