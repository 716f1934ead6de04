import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Case } from "../case";
import { same, within } from "../judgement";
import type { StdinOrder } from "../messages";
import { check, prints, refuses, runs, TOUCH } from "./rows";

const MIB = 1024 * 1024;
const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, index) => index);
const given = (stdin: StdinOrder) => ({ executionContext: { stdin } });

const STDIN: readonly Case[] = [
	runs("closes standard input where none is given", ["cat"], { stdout: "" }, { timeoutSeconds: 5 }),
	prints("gives a text as standard input", "cat", "naïve 日本 🙂\n", given("naïve 日本 🙂\n")),
	prints("gives an empty text as standard input", "cat; echo end", "end\n", given("")),
	prints(
		"gives bytes as standard input",
		"od -An -v -tu1 | tr -s ' \\n' ' '",
		` ${[...ALL_BYTES].join(" ")} `,
		given(ALL_BYTES),
	),
	prints(
		"gives a stream of 64 MiB as standard input",
		"wc -c",
		`${64 * MIB}\n`,
		given({ stream: "zeros", bytes: 64 * MIB }),
	),
	runs(
		"takes a stream in and its like out at once",
		["cat"],
		{ bytes: 8 * MIB, truncated: true },
		{
			...given({ stream: "zeros", bytes: 8 * MIB }),
			maxOutputBytes: 1000,
		},
	),
	{
		name: "answers at once where the command reads nothing of what there is for it",
		run: async (bench) => {
			for (const stdin of [{ stream: "zeros", bytes: 64 * MIB }, { stream: "open" }] as const)
				await within(0, async () => check(await bench.execute(["true"], given(stdin)), {}));
		},
	},
	{
		name: "answers at once where the command reads only the beginning",
		run: async (bench) => {
			await within(0, async () =>
				check(await bench.execute(["head", "-c", "5"], given({ stream: "open" })), { stdout: "more\n" }),
			);
		},
	},
	{
		name: "hands on what comes while it comes",
		run: async (bench) => {
			await within(1, async () =>
				check(await bench.execute(["head", "-n", "5"], given({ stream: "open" })), { stdout: "more\n".repeat(5) }),
			);
		},
	},
];

/** Case 20: the cut falls inside a character. */
const CUTS: readonly Case[] = [
	runs(
		"cuts before a character that does not fit",
		["printf", "aaaaaaaaa🙂\\n"],
		{ stdout: "aaaaaaaaa", truncated: true, bytes: 14, isText: true },
		{ maxOutputBytes: 11 },
	),
	runs(
		"cuts between characters",
		["printf", `${"é".repeat(10)}\\n`],
		{ stdout: "éé", truncated: true, bytes: 21, isText: true },
		{ maxOutputBytes: 5 },
	),
	runs(
		"cuts before a character that does not fit (python)",
		["python3", "-c", "print('a'*9 + chr(0x1F642))"],
		{ stdout: "aaaaaaaaa", truncated: true },
		{ maxOutputBytes: 11 },
		["python3"],
	),
	runs(
		"cuts between characters (python)",
		["python3", "-c", "print('é'*10)"],
		{ stdout: "éé", truncated: true },
		{ maxOutputBytes: 5 },
		["python3"],
	),
	...[10, 11, 12, 13].map((maxOutputBytes) =>
		runs(
			`keeps whole characters of ${maxOutputBytes} bytes`,
			["printf", "aaaaaaaaa🙂b"],
			{ stdout: maxOutputBytes === 13 ? "aaaaaaaaa🙂" : "aaaaaaaaa", truncated: true, bytes: 14, isText: true },
			{ maxOutputBytes },
		),
	),
];

const OUTPUT: readonly Case[] = [
	...CUTS,
	runs(
		"keeps an output that fits to the byte",
		["printf", "12345"],
		{ stdout: "12345", truncated: false, bytes: 5 },
		{ maxOutputBytes: 5 },
	),
	runs(
		"keeps nothing of an output with a bound of 0, and counts it",
		["printf", "12345"],
		{ stdout: "", truncated: true, bytes: 5 },
		{ maxOutputBytes: 0 },
	),
	runs(
		"has nothing to cut where nothing was written",
		["true"],
		{ stdout: "", truncated: false, bytes: 0 },
		{ maxOutputBytes: 0 },
	),
	runs(
		"keeps the exit code of a command with too much output",
		["sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x; exit 9"],
		{ exitCode: 9, truncated: true, stdout: "x".repeat(1000), bytes: 5_000_000 },
		{ timeoutSeconds: 20, maxOutputBytes: 1000 },
	),
	runs("marks bytes that are no text", ["printf", "a\\377\\376b"], {
		stdout: "a\uFFFD\uFFFDb",
		isText: false,
		truncated: false,
		bytes: 4,
	}),
	runs("marks a character that was never finished", ["printf", "a\\360\\237"], {
		stdout: /^a\uFFFD+$/,
		isText: false,
		truncated: false,
		bytes: 3,
	}),
	runs("hands on NUL bytes and line ends as they are", ["printf", "a\\0b\\r\\n\\n"], {
		stdout: "a\0b\r\n\n",
		isText: true,
	}),
	{
		name: "bounds and counts each output by itself",
		run: async (bench) => {
			const script = "head -c 300000 /dev/zero | tr '\\0' o; head -c 70000 /dev/zero | tr '\\0' e >&2";
			const { stdout, stderr } = await bench.execute(["sh", "-c", script], { maxOutputBytes: 65_536 });
			same(stdout, { text: "o".repeat(65_536), truncated: true, bytes: 300_000, isText: true });
			same(stderr, { text: "e".repeat(65_536), truncated: true, bytes: 70_000, isText: true });
		},
	},
	prints(
		"lets /dev/stdout and /dev/stderr be opened",
		"echo out >/dev/stdout; echo err >/dev/stderr; echo both | tee /dev/stderr",
		"out\nboth\n",
	),
	{
		name: "takes 1 GiB of output in bounded memory",
		run: async (bench) => {
			const caller = bench.newCaller();
			const handle = await bench.box();
			const small = { handle, command: ["true"], options: {} };
			await caller.do("execute", small);
			const before = await caller.do("memory", undefined);
			const command = ["head", "-c", String(1024 * MIB), "/dev/zero"];
			check(await caller.do("execute", { handle, command, options: { maxOutputBytes: MIB } }), {
				bytes: 1024 * MIB,
				truncated: true,
			});
			const grown = ((await caller.do("memory", undefined)) - before) / MIB;
			await caller.end();
			assert.ok(grown < 160, `memory grew by ${grown.toFixed(0)} MiB`);
		},
	},
	...[-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 65 * MIB].map((maxOutputBytes) =>
		refuses(
			`a bound of ${maxOutputBytes} bytes`,
			TOUCH,
			{ code: "invalid", names: ["maxOutputBytes"] },
			{ maxOutputBytes },
		),
	),
];

const WATCHED: readonly Case[] = [
	{
		name: "hands on each piece of output in order, whole, before any bound",
		run: async (bench) => {
			const seen = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
			const script = "i=0; while [ $i -lt 3000 ]; do echo out$i; echo err$i >&2; i=$((i+1)); done";
			const { result } = await bench.begin(
				["sh", "-c", script],
				{ maxOutputBytes: 10 },
				(stream, chunk) => void seen[stream].push(chunk),
			);
			check(await result, { truncated: true });
			const lines = (word: string) => Array.from({ length: 3000 }, (_, index) => `${word}${index}\n`).join("");
			assert.equal(Buffer.concat(seen.stdout).toString(), lines("out"));
			assert.equal(Buffer.concat(seen.stderr).toString(), lines("err"));
		},
	},
	{
		name: "hands on a piece of output while the command still runs",
		run: async (bench) => {
			const times: number[] = [];
			const begun = performance.now();
			const { result } = await bench.begin(
				["sh", "-c", "echo first; sleep 2; echo second"],
				{},
				() => void times.push(performance.now() - begun),
			);
			check(await result, { stdout: "first\nsecond\n" });
			const [first = 0, second = 0] = times;
			assert.ok(second - first >= 1900, `the pieces came after ${times.map(Math.round).join(" and ")} ms`);
		},
	},
	{
		name: "holds a command back whose output is not taken",
		run: async (bench) => {
			let take: () => void = () => undefined;
			const taking = new Promise<void>((resolve) => {
				take = resolve;
			});
			const script =
				"i=0; while [ $i -lt 120 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i >/workspace/progress; done";
			const { result } = await bench.begin(["sh", "-c", script], { maxOutputBytes: 0 }, () => taking);
			const progress = async () => Number(await bench.sh("cat /workspace/progress 2>/dev/null || echo 0"));
			await delay(700);
			const held = await progress();
			await delay(300);
			assert.equal(await progress(), held, "it went on");
			assert.ok(held < 60, `${held} pieces of 64 KiB were taken`);
			take();
			check(await result, { bytes: 120 * 65_536 });
			await bench.sh("rm /workspace/progress");
		},
	},
];

export const STREAMS: readonly Case[] = [...STDIN, ...OUTPUT, ...WATCHED];
