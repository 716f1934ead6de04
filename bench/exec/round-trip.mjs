import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Sandboxes } from "../bwrap/sandboxes.mjs";
import { medianOf, ratioOfPairs } from "../harness/figure.mjs";
import { progress } from "../harness/report.mjs";

/** Triples that are not counted: modules get loaded and code compiled in them. */
const WARM_UP = 10;

/**
 * `execute(["true"])`, over a bare nsenter, and over the very command line that it starts, started by hand.
 *
 * @param {import("../harness/workbench.mjs").Workbench} workbench
 * @param {import("../harness/counts.mjs").Counts} counts
 */
export async function roundTrip(workbench, { commands }) {
	const sandboxes = new Sandboxes(workbench, "exec-sandboxes");
	const handle = await sandboxes.create("exec");
	const directory = sandboxes.directory("exec");
	const record = JSON.parse(readFileSync(join(directory, "record.json"), "utf8"));
	const line = confinedLine(workbench, record);
	const filter = join(workbench.makeFolder("exec-by-hand"), "filter");
	writeFileSync(filter, workbench.load("./extensions/bwrap/seccomp/filter").seccompFilter(process.arch));
	const { signal } = new AbortController();
	const times = { ours: [], bare: [], confined: [] };
	progress(`exec round-trip: ${commands} triples`);
	for (let index = -WARM_UP; index < commands; index++) {
		const ours = await timed(() => sandboxes.extension.execute(handle, ["true"], {}, { signal }));
		const bare = await timed(() => runBare(record.init.pid));
		const confined = await timed(() => runConfined(line, filter));
		if (index < 0) continue;
		times.ours.push(ours);
		times.bare.push(bare);
		times.confined.push(confined);
	}
	await sandboxes.remove(handle);
	return [
		ratioOfPairs('execute(["true"]) ÷ bare nsenter true', times.ours, times.bare, 4),
		ratioOfPairs('execute(["true"]) ÷ the same command line by hand', times.ours, times.confined, 1.3),
		medianOf('execute(["true"]), median ms', times.ours),
		medianOf("bare nsenter true, median ms", times.bare),
		medianOf("the same command line by hand, median ms", times.confined),
	];
}

async function timed(work) {
	const start = performance.now();
	const result = await work();
	const elapsed = performance.now() - start;
	if (result.exitCode !== 0) throw new Error(`true ended with ${JSON.stringify(result)}`);
	return elapsed;
}

/** Into the sandbox's namespaces, with none of its confinement. */
async function runBare(pid) {
	const kinds = ["-U", "-m", "-p", "-i", "-u", "-n"];
	const child = spawn("nsenter", ["-t", String(pid), ...kinds, "--preserve-credentials", "true"], { stdio: "ignore" });
	const [exitCode] = await once(child, "exit");
	return { exitCode };
}

/** The words that the extension starts, and those that it hands to bwrap beside them. */
function confinedLine(workbench, record) {
	const { entryCommand } = workbench.load("./extensions/bwrap/entry/entry-command");
	const { findPrograms } = workbench.load("./extensions/bwrap/preflight");
	const { INSIDE_ENVIRONMENT } = workbench.load("./extensions/bwrap/holder/command");
	const gate = readFileSync(join(workbench.package, "dist/extensions/bwrap/entry/gate.sh"), "utf8");
	const environment = Object.entries(INSIDE_ENVIRONMENT).flatMap(([name, value]) => ["--setenv", name, value]);
	return {
		words: entryCommand(
			findPrograms(process.env.PATH),
			record,
			{ argv: ["true"], user: "sandbox" },
			{ gate, filtered: "2,1,", stray: [] },
		),
		pid: record.init.pid,
		args: [...environment, "--chdir", "/workspace"].join("\0"),
	};
}

async function runConfined({ words: [program, ...args], args: handedOver, pid }, filterFile) {
	const filter = openSync(filterFile, "r");
	const child = spawn(program, args, {
		env: { PATH: process.env.PATH },
		cwd: "/",
		stdio: ["ignore", "pipe", "pipe", filter, "pipe", "pipe"],
		detached: true,
	});
	closeSync(filter);
	child.stdout.resume();
	child.stderr.resume();
	child.stdio[4].end(handedOver);
	child.stdio[5].write(`${pid}\n`);
	child.stdio[5].once("data", () => child.stdio[5].write("go\n"));
	const [exitCode] = await once(child, "exit");
	for (const stream of child.stdio) stream?.destroy();
	return { exitCode };
}
