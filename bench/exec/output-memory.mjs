import { Sandboxes } from "../bwrap/sandboxes.mjs";
import { figure } from "../harness/figure.mjs";
import { progress } from "../harness/report.mjs";

const MIB = 1024 * 1024;
const OUTPUT_MIB = 256;

/**
 * How much this process grows, at its largest, while a command writes far more than is kept of it.
 *
 * @param {import("../harness/workbench.mjs").Workbench} workbench
 */
export async function outputMemory(workbench) {
	const sandboxes = new Sandboxes(workbench, "output-sandboxes");
	const handle = await sandboxes.create("output");
	const run = (bytes) =>
		sandboxes.extension.execute(
			handle,
			["head", "-c", String(bytes), "/dev/zero"],
			{ maxOutputBytes: MIB },
			{ signal: new AbortController().signal },
		);
	progress(`exec output-memory: ${OUTPUT_MIB} MiB`);
	// What a first command loads and allocates once is not counted.
	await run(2 * MIB);
	globalThis.gc?.();
	const before = process.memoryUsage.rss();
	let most = before;
	const watch = setInterval(() => {
		most = Math.max(most, process.memoryUsage.rss());
	}, 5);
	const { stdout } = await run(OUTPUT_MIB * MIB);
	clearInterval(watch);
	most = Math.max(most, process.memoryUsage.rss());
	await sandboxes.remove(handle);
	if (stdout.bytes !== OUTPUT_MIB * MIB || !stdout.truncated)
		throw new Error(`${stdout.bytes} bytes were counted instead of ${OUTPUT_MIB} MiB.`);
	return [
		figure(`memory growth while ${OUTPUT_MIB} MiB are written and 1 MiB is kept, MiB`, (most - before) / MIB, 32),
	];
}
