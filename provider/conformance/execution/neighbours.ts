import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Case } from "../case";
import { rejected, same, within } from "../judgement";
import { check, stillWell } from "./rows";

const PIDS = "cd /proc; for p in [0-9]*; do read -r name <$p/comm 2>/dev/null && echo $name; done";

/** Commands that do not end, and say when they have begun. */
const SLEEPERS = [
	"echo on; sleep 300",
	"setsid sleep 300 & echo on; sleep 300",
	"(setsid sleep 300 &); echo on; exec sleep 300",
];

export const NEIGHBOURS: readonly Case[] = [
	{
		name: "runs many commands at once, each with its own output and end",
		run: async (bench) => {
			const results = await Promise.all(
				Array.from({ length: 24 }, (_, index) =>
					bench.execute(["sh", "-c", `cat; sleep 0.1; echo err${index} >&2; exit ${index}`], {
						executionContext: { stdin: `in${index}` },
					}),
				),
			);
			for (const [index, result] of results.entries())
				check(result, { exitCode: index, stdout: `in${index}`, stderr: `err${index}\n` });
		},
	},
	{
		name: "keeps two commands from seeing each other",
		run: async (bench) => {
			const other = await bench.begin(["sh", "-c", "sleep 300 & wait"], {
				executionContext: { env: { MARK: "of-the-other" } },
			});
			try {
				for (const user of ["sandbox", "root"] as const) {
					const seen = await bench.sh(PIDS, { executionContext: { user } });
					assert.doesNotMatch(seen, /sleep/);
					const marks = await bench.sh(
						"cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c '[o]f-the-other' || :",
						{ executionContext: { user } },
					);
					assert.equal(marks, "0\n");
				}
			} finally {
				other.abort();
				await other.result.catch(() => undefined);
			}
		},
	},
	{
		name: "keeps a command from ending another one, or the sandbox",
		run: async (bench) => {
			const other = await bench.begin(["sh", "-c", "sleep 2; echo unharmed"]);
			for (const user of ["sandbox", "root"] as const) {
				for (const script of [
					"kill -KILL -1",
					"kill -STOP -1",
					"kill -KILL 1; kill -TERM 1; kill -STOP 1",
					"for p in /proc/[0-9]*; do kill -KILL ${p#/proc/}; done",
				])
					await bench.execute(["sh", "-c", `exec 2>/dev/null; ${script}`], {
						timeoutSeconds: 1,
						executionContext: { user },
					});
			}
			check(await other.result, { stdout: "unharmed\n" });
			await stillWell(bench);
			await bench.caller.do("waitReady", await bench.box());
		},
	},
	{
		name: "keeps pid 1 of the sandbox from being rewritten",
		run: async (bench) => {
			for (const user of ["sandbox", "root"] as const)
				await bench.execute(
					[
						"sh",
						"-c",
						"for f in mem environ clear_refs oom_score_adj comm; do head -c 65536 /dev/zero >/proc/1/$f; done 2>/dev/null",
					],
					{ executionContext: { user }, timeoutSeconds: 5 },
				);
			await stillWell(bench);
			await bench.caller.do("waitReady", await bench.box());
		},
	},
	{
		name: "ends a command when its caller asks to stop, and says so",
		run: async (bench) => {
			const box = await bench.box();
			await bench.leavesNothing(async () => {
				const running = await bench.running("setsid sleep 300 & echo on; sleep 300", box);
				running.abort();
				await within(0, () => rejected(running.result, { code: "aborted", names: [box.sandbox_id] }));
			});
			await stillWell(bench);
		},
	},
	{
		name: "ends a command whose caller asks to stop while it is being started",
		run: async (bench) => {
			await bench.leavesNothing(async () => {
				// Each pause of 0 to 19 ms three times, near ones apart, and not at the same place of each 20: what a start
				// waits for, such as pipes that are made for several commands, is not the same every time.
				for (let round = 0; round < 60; round++) {
					const running = await bench.begin(["sleep", "300"]);
					await delay((round * 7 + Math.floor(round / 20) * 3) % 20);
					running.abort();
					await within(0, () => rejected(running.result, { code: "aborted", names: [] }));
				}
			});
			await stillWell(bench);
		},
	},
	{
		name: "tells a command that its sandbox ended meanwhile from one that was killed",
		needs: ["crash"],
		run: async (bench) => {
			const handle = await bench.make();
			const running = await bench.running("echo on; sleep 300", handle);
			await bench.adapter.crash?.(handle);
			await within(0, () => rejected(running.result, { code: "gone", names: [handle.sandbox_id] }));
			await assert.rejects(bench.execute(["true"], {}, handle));
		},
	},
	{
		name: "ends a command whose sandbox is removed meanwhile, and starts none after",
		run: async (bench) => {
			const handle = await bench.make();
			const running = await bench.running("setsid sleep 300 & echo on; sleep 300", handle);
			same((await bench.caller.do("teardown", handle)).remains, []);
			await within(0, () => rejected(running.result, { code: "gone", names: [handle.sandbox_id] }));
			await rejected(bench.execute(["true"], {}, handle), { code: "gone", names: [handle.sandbox_id] });
			same(await bench.traces(handle), []);
		},
	},
	{
		name: "leaves nothing of the commands of a caller that is killed, while they run",
		needs: ["traces"],
		run: async (bench) => {
			const handle = await bench.box();
			await bench.leavesNothing(async () => {
				const caller = bench.newCaller();
				await Promise.all(SLEEPERS.map((script) => bench.running(script, handle, caller)));
				await caller.end("SIGKILL");
			});
			await stillWell(bench);
		},
	},
	{
		name: "leaves nothing of the commands of a caller that is killed, at any moment",
		needs: ["traces"],
		run: async (bench) => {
			const handle = await bench.box();
			const kills = bench.adapter.thorough === true ? 100 : 6;
			let next = bench.newCaller();
			await bench.leavesNothing(async () => {
				for (let kill = 0; kill < kills; kill++) {
					const caller = next;
					next = bench.newCaller();
					const took = (await caller.do("execute", { handle, command: ["true"], options: {} })).durationMs;
					// Several of them, begun at different times, so that one kill falls into several moments.
					for (const script of SLEEPERS) {
						const options = { credentialRouteRefs: ["DB", "KEY"] };
						caller.begin("execute", { handle, command: ["sh", "-c", script], options });
						await delay(Math.random() * took);
					}
					await caller.end("SIGKILL");
				}
			});
			await stillWell(bench);
		},
	},
];
