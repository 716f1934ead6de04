import assert from "node:assert/strict";
import { type ErrorCode, SandboxerError } from "../errors";

/** What an error is to be. */
export interface Refusal {
	readonly code: ErrorCode;
	/** Stands in its text, beside the sandbox's id. */
	readonly names: readonly string[];
}

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

/**
 * That something is answered within its limit and 2 seconds more.
 *
 * @param says - What the answer tells of it, for the message.
 */
export async function within<T>(
	seconds: number,
	work: () => Promise<T>,
	says: (answer: T) => string = () => "",
): Promise<T> {
	const begun = performance.now();
	const result = await work();
	const took = (performance.now() - begun) / 1000;
	assert.ok(took < seconds + 2, `it took ${took.toFixed(1)} s, with a limit of ${seconds} s${says(result)}`);
	return result;
}
