import type { Handle, SnapshotMeta } from "../contract";
import type { Bench } from "./bench";
import type { Case, PartName } from "./case";
import { rejected } from "./judgement";

/** What an extension that says it cannot do something must say when it is asked to. */
export const REFUSALS: Partial<Record<PartName, readonly Case[]>> = {
	execution: [
		refused("to run a command", ["execution"], (bench, handle) =>
			bench.execute(["touch", "/workspace/ran"], {}, handle),
		),
	],
	snapshots: [
		refused("to take a snapshot", ["snapshot"], (bench, handle) =>
			bench.caller.do("snapshot", { handle, request: { snapshotId: "one", labels: {} } }),
		),
		refused("to restore one", ["snapshot"], (bench, { extension, sandbox_id }) => {
			const snapshot = { extension, sandbox_id, snapshot_id: "one" } as unknown as SnapshotMeta;
			return bench.restore(snapshot);
		}),
	],
	leases: [
		refused("to change a lease", ["lease"], (bench, handle) =>
			bench.caller.do("extendLease", { handle, expiresAt: new Date(Date.now() + 3_600_000).toISOString() }),
		),
	],
};

function refused(
	what: string,
	names: readonly string[],
	ask: (bench: Bench, handle: Handle) => Promise<unknown>,
): Case {
	return {
		name: `refuses ${what}, naming itself and what it cannot do`,
		run: async (bench) => {
			const { id } = bench.adapter.declaration;
			await rejected(ask(bench, await bench.box()), { code: "unsupported", names: [id, ...names] });
		},
	};
}
