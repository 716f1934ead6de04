import assert from "node:assert/strict";
import type { Case } from "../case";
import { rejected } from "../judgement";
import { check, refuses, runs } from "./rows";

const EXIT_CODES = [0, 1, 2, 9, 17, 42, 64, 100, 124, 125, 126, 127, 128, 129, 137, 143, 200, 254, 255];
/** By number, as POSIX has them. */
const SIGNALS: readonly [string, number][] = [
	["HUP", 1],
	["INT", 2],
	["QUIT", 3],
	["ABRT", 6],
	["KILL", 9],
	["SEGV", 11],
	["PIPE", 13],
	["TERM", 15],
];

export const ENDS: readonly Case[] = [
	...EXIT_CODES.map((code) => runs(`tells exit code ${code}`, ["sh", "-c", `exit ${code}`], { exitCode: code })),
	...SIGNALS.map(([name, number]) =>
		runs(`tells a death by SIG${name} as ${128 + number}, and no signal of ours`, ["sh", "-c", `kill -${name} $$`], {
			exitCode: 128 + number,
		}),
	),
	refuses("names a program that is not there", ["no-such-program"], {
		code: "not-started",
		names: ['"no-such-program"'],
	}),
	refuses("names a path that is not there", ["/no/such"], { code: "not-started", names: ['"/no/such"'] }),
	refuses("a folder as a program", ["/usr"], { code: "not-started", names: ['"/usr"'] }),
	refuses("a file that may not be run", ["/etc/passwd"], { code: "not-started", names: ['"/etc/passwd"'] }),
	refuses("a program of another's folder by its bare name", ["ran-nothing/../sh"], {
		code: "not-started",
		names: ["ran-nothing/../sh"],
	}),
	runs("tells a shell's own 127 from a command that is not there", ["sh", "-c", "no-such-program"], {
		exitCode: 127,
		stderr: /no-such-program/,
	}),
	runs("tells a shell's own 126 from a command that may not be run", ["sh", "-c", "/etc/passwd"], { exitCode: 126 }),
	{
		name: "tells a script whose interpreter is not there from one that ran",
		run: async (bench) => {
			await bench.sh("printf '#!/no/such\\n' >/workspace/script && chmod 755 /workspace/script");
			const outcome = await bench.execute(["/workspace/script"]).then(
				({ exitCode }) => exitCode,
				async (error: unknown) => {
					await rejected(Promise.reject(error as Error), { code: "not-started", names: ["/workspace/script"] });
					return 127;
				},
			);
			assert.ok(outcome === 126 || outcome === 127, `it ended with ${outcome}`);
		},
	},
	{
		name: "gives back the correlation id, and how long it took",
		run: async (bench) => {
			const result = await bench.execute(["sleep", "0.2"], { executionContext: { correlationId: "run 7/ü" } });
			check(result, { stdout: "" });
			assert.equal(result.correlationId, "run 7/ü");
			assert.ok(result.durationMs >= 200 && result.durationMs < 10_000, `${result.durationMs} ms`);
			assert.equal((await bench.execute(["true"])).correlationId, undefined);
		},
	},
];
