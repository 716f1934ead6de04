import {
	checkSnapshot,
	diffSnapshot,
	keptUntil,
	readSnapshot,
	type SnapshotInputs,
	type SnapshotOutputs,
	takeSnapshot,
} from "../../lifecycle";
import type { Kind, Properties } from "./kind";

const asInputs = (properties: Properties) => properties as unknown as SnapshotInputs;
const asOutputs = (properties: Properties) => properties as unknown as SnapshotOutputs;

/** Snapshots of sandboxes. The archive outlives resource and sandbox: retention alone removes it. */
export const snapshots: Kind = {
	layout: { shown: ["snapshotId", "snapshot"] },
	extensionOf: ({ extension }) => String(extension),
	check: (backend, olds, news) => checkSnapshot(() => backend.extension, olds, news),
	diff: (_backend, olds, news) => diffSnapshot(olds, asInputs(news)),

	async create(backend, inputs) {
		const outputs = await takeSnapshot(backend, asInputs(inputs));
		return { id: outputs.snapshot.snapshot_id, outputs };
	},

	read: (backend, _id, properties) => readSnapshot(backend, properties),

	update(backend, olds, news) {
		const { snapshot } = asOutputs(olds);
		backend.info(`${snapshot.snapshot_id} is as it was taken, ${keptUntil(snapshot)}: the next one is taken so`);
		return Promise.resolve({ ...news, snapshot });
	},

	delete(backend, _id, properties) {
		const { snapshot } = asOutputs(properties);
		backend.info(
			`${snapshot.snapshot_id} stays, ${keptUntil(snapshot)}: sandboxer snapshots --remove ${snapshot.snapshot_id}`,
		);
		return Promise.resolve();
	},
};
