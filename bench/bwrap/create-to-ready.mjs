import { execFileSync } from "node:child_process";
import { figure, median, medianOf, ratioOfPairs } from "../harness/figure.mjs";
import { progress } from "../harness/report.mjs";
import { bareStart, timeBareStart } from "./bare-start.mjs";
import { Sandboxes } from "./sandboxes.mjs";

/** Pairs that are not counted: modules get loaded and code compiled in them. */
const WARM_UP = 5;

const HOOK = Symbol.for("pulumi-sandboxer.checkpoint");

/**
 * From the call of `provision` to the end of `waitReady`, over bwrap alone; then, in runs of its own, where
 * the time goes.
 *
 * @param {import("../harness/workbench.mjs").Workbench} workbench
 * @param {import("../harness/counts.mjs").Counts} counts
 */
export async function createToReady(workbench, { pairs }) {
	const bare = await bareStart(workbench);
	const sandboxes = new Sandboxes(workbench, "sandboxes");
	const ours = [];
	const alone = [];
	progress(`create-to-ready: ${pairs} pairs`);
	for (let index = -WARM_UP; index < pairs; index++) {
		const milliseconds = await timeCreate(sandboxes);
		const bareMilliseconds = await timeBareStart(bare);
		if (index < 0) continue;
		ours.push(milliseconds);
		alone.push(bareMilliseconds);
	}
	const steps = await timeSteps(sandboxes, pairs);
	return [
		ratioOfPairs("create-to-ready in the provider ÷ bwrap alone", ours, alone, 4),
		figure("create-to-ready in the provider ÷ bwrap alone, ratio of the medians", median(ours) / median(alone), null),
		medianOf("create-to-ready in the provider, median ms", ours),
		medianOf("bwrap alone, median ms", alone),
		...steps,
	];
}

async function timeCreate(sandboxes) {
	const start = performance.now();
	const handle = await sandboxes.create("bench");
	const elapsed = performance.now() - start;
	await removeWhole(sandboxes, handle);
	return elapsed;
}

/** Removing is not counted: what the disk has to do for it is done before the next one is made. */
async function removeWhole(sandboxes, handle) {
	await sandboxes.remove(handle);
	execFileSync("sync", ["--file-system", sandboxes.folder]);
}

/** The time up to each checkpoint from the one before. */
async function timeSteps(sandboxes, runs) {
	const times = new Map();
	progress(`create-to-ready, step by step: ${runs} runs`);
	for (let index = 0; index < runs; index++) {
		let before = performance.now();
		const lap = (name) => {
			const now = performance.now();
			times.set(name, [...(times.get(name) ?? []), now - before]);
			before = performance.now();
		};
		globalThis[HOOK] = async (name) => lap(name);
		try {
			const handle = await sandboxes.create("bench");
			lap("ready");
			globalThis[HOOK] = undefined;
			await removeWhole(sandboxes, handle);
		} finally {
			globalThis[HOOK] = undefined;
		}
	}
	return [...times].map(([name, values]) => medianOf(`create-to-ready, up to ${name}, median ms`, values));
}
