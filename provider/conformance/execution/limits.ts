import assert from "node:assert/strict";
import type { Bench } from "../bench";
import type { Case } from "../case";
import { within } from "../judgement";
import { check, type Expected, refuses, runs, stillWell, TOUCH } from "./rows";

/** A case: a command that is ended at its limit, and of which nothing is left. */
function ended(
	name: string,
	script: string,
	timeoutSeconds: number,
	expected: Expected = {},
	maxOutputBytes = 65_536,
): Case {
	return {
		name: `ends ${name} at the limit, and all that it started`,
		run: (bench) => endsAtLimit(bench, ["sh", "-c", script], timeoutSeconds, expected, maxOutputBytes),
	};
}

async function endsAtLimit(
	bench: Bench,
	command: readonly string[],
	timeoutSeconds: number,
	expected: Expected,
	maxOutputBytes: number,
): Promise<void> {
	await bench.leavesNothing(async () => {
		const result = await within(
			timeoutSeconds,
			() => bench.execute(command, { timeoutSeconds, maxOutputBytes }),
			({ durationMs }) => `, and is said to have taken ${durationMs} ms`,
		);
		check(result, { ...expected, timedOut: true });
		assert.ok(result.durationMs >= timeoutSeconds * 1000 - 50, `after ${result.durationMs} ms`);
		for (const { text } of [result.stdout, result.stderr]) assert.ok(Buffer.byteLength(text) <= maxOutputBytes);
	});
	await stillWell(bench);
}

/** A case: a command that ends by itself, at once, and with it all that it left in the background. */
function endsWith(name: string, script: string): Case {
	return {
		name: `answers at once where a command leaves ${name} behind, which ends with it`,
		run: (bench) =>
			bench.leavesNothing(async () => {
				const result = await within(-1, () => bench.execute(["sh", "-c", script], { timeoutSeconds: 5 }));
				check(result, { stdout: "", exitCode: 3 });
			}),
	};
}

export const LIMITS: readonly Case[] = [
	ended("a command whose child holds its output open", "sleep 300 & echo hi; sleep 300", 3, { stdout: "hi\n" }),
	ended("a command that ignores SIGTERM", "trap '' TERM INT HUP; echo on; while :; do sleep 1; done", 3, {
		stdout: "on\n",
	}),
	ended("a command with a child in another session", "setsid sleep 300 & sleep 300", 0.5),
	ended("a command with an orphan", "(setsid sh -c 'sleep 300 & exec sleep 301' &); sleep 300", 0.5),
	ended("a command that is stopped", "kill -STOP $$", 0.5),
	ended("a command that floods its output", "yes", 3, { truncated: true, stdout: /^(y\n)+$/ }),
	ended("a command that floods its errors", "yes >&2", 1, { stdout: "" }),
	ended("a command with a limit of a fraction of a second", "sleep 300", 0.2),
	ended("a command that never ceases to fork", "f() { f & f & wait; }; f 2>/dev/null; sleep 300", 2),
	ended("hundreds of sleepers", "i=0; while [ $i -lt 200 ]; do sleep 300 & i=$((i+1)); done; echo all; sleep 300", 5, {
		stdout: "all\n",
	}),
	{
		name: "answers at the limit even where its output is not taken",
		run: async (bench) => {
			const { result } = await bench.begin(["yes"], { timeoutSeconds: 1 }, () => new Promise(() => undefined));
			check(await within(1, () => result), { timedOut: true });
		},
	},
	{
		name: "answers at the limit even where standard input never ends",
		run: async (bench) => {
			const options = { timeoutSeconds: 1, executionContext: { stdin: { stream: "open" } } } as const;
			check(await within(1, () => bench.execute(["sh", "-c", "cat >/dev/null"], options)), { timedOut: true });
		},
	},
	endsWith("a sleeper", "sleep 300 & exit 3"),
	endsWith("a sleeper in another session", "setsid sleep 300 & exit 3"),
	endsWith("an orphan of an orphan", "(setsid sh -c 'setsid sleep 300 & sleep 301 &' &) ; sleep 0.1; exit 3"),
	endsWith("a process deaf to signals", "(trap '' HUP TERM INT; nohup sleep 300 >/dev/null 2>&1) & exit 3"),
	runs(
		"does not end a command before its limit",
		["sh", "-c", "sleep 1.2; echo done"],
		{ stdout: "done\n" },
		{ timeoutSeconds: 10 },
	),
	runs(
		"takes the longest limit there is, 7 days, and does not end at once",
		["sleep", "0.3"],
		{},
		{ timeoutSeconds: 7 * 24 * 3600 },
	),
	...[0, -1, -0.5, Number.NaN, Number.POSITIVE_INFINITY, 9_999_999_999, 7 * 24 * 3600 + 1].map((timeoutSeconds) =>
		refuses(
			`a limit of ${timeoutSeconds} s`,
			TOUCH,
			{ code: "invalid", names: ["timeoutSeconds"] },
			{ timeoutSeconds },
		),
	),
	refuses(
		"a limit that is no number",
		TOUCH,
		{ code: "invalid", names: ["timeoutSeconds"] },
		{ timeoutSeconds: "soon" as unknown as number },
	),
];
