import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Sandboxes } from "../bwrap/sandboxes.mjs";
import { figure, medianOf, ratioOfPairs } from "../harness/figure.mjs";
import { progress } from "../harness/report.mjs";
import { makeTree } from "./a-tree.mjs";

const TIMEOUT_SECONDS = 1800;

/**
 * A snapshot of a workspace, over plain tar with the same compression; then the restore into a sandbox, over
 * plain tar into a folder.
 *
 * @param {import("../harness/workbench.mjs").Workbench} workbench
 * @param {import("../harness/counts.mjs").Counts} counts
 */
export async function takeAndRestore(workbench, { rounds, files }) {
	const sandboxes = new Sandboxes(workbench, "snapshot-sandboxes");
	const source = await sandboxes.create("source");
	const workspace = join(source.remote_dir, "workspace");
	const folder = workbench.makeFolder("snapshot-plain");
	progress(`snapshot: making a tree of ${files} files`);
	makeTree(workspace, files);
	const { uid, gid } = statSync(workspace);
	execFileSync("chown", ["-R", `${uid}:${gid}`, workspace]);
	const times = { take: [], plainTake: [], restore: [], plainRestore: [] };
	const bytes = { ours: 0, plain: 0 };
	for (let round = 0; round < rounds; round++) {
		progress(`snapshot: round ${round + 1} of ${rounds}`);
		const snapshotId = `round-${round}`;
		let meta;
		times.take.push(
			await seconds(async () => {
				meta = await sandboxes.extension.snapshot(source, { ...call(), snapshotId, labels: {} });
			}),
		);
		const archive = join(folder, "plain.tar.gz");
		const create = ["--create", "--use-compress-program=gzip -1", `--file=${archive}`, `--directory=${workspace}`, "."];
		times.plainTake.push(await seconds(() => execFileSync("tar", create)));
		bytes.ours = meta.size_bytes;
		bytes.plain = statSync(archive).size;
		let restored;
		times.restore.push(
			await seconds(async () => {
				restored = await sandboxes.restore(`restored-${round}`, meta, TIMEOUT_SECONDS);
			}),
		);
		const into = join(folder, "into");
		mkdirSync(into);
		times.plainRestore.push(
			await seconds(() => execFileSync("tar", ["--extract", "--gzip", `--file=${archive}`, `--directory=${into}`])),
		);
		rmSync(into, { recursive: true });
		await sandboxes.remove(restored);
		await sandboxes.extension.removeSnapshot(meta, call());
	}
	await sandboxes.remove(source);
	return [
		ratioOfPairs(`snapshot of ${files} files ÷ tar`, times.take, times.plainTake, 1.5),
		ratioOfPairs(`restore of ${files} files ÷ tar`, times.restore, times.plainRestore, 1.5),
		medianOf("snapshot, median s", times.take),
		medianOf("tar with gzip -1, median s", times.plainTake),
		medianOf("restore, median s", times.restore),
		medianOf("tar --extract, median s", times.plainRestore),
		figure("archive of the snapshot ÷ tar's", bytes.ours / bytes.plain, null),
	];
}

function call() {
	return { signal: new AbortController().signal, timeoutSeconds: TIMEOUT_SECONDS, progress: () => undefined };
}

async function seconds(work) {
	const start = performance.now();
	await work();
	return (performance.now() - start) / 1000;
}
