import type { CleanupReport } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { defineCommand } from "../command-line/command";
import { UsageError } from "../command-line/usage-error";
import { remaining } from "../output/remains";
import { errorDocument } from "../output/report";
import { SNAPSHOT_HEAD, snapshotRow } from "../output/snapshot";
import { rows, table } from "../output/table";
import { WHERE } from "../place/options";
import { CHANGE_SECONDS, Place } from "../place/place";
import { type Kept, snapshotOf, snapshotsOf } from "../place/snapshots";

interface Removed {
	readonly kept: Kept;
	readonly report?: CleanupReport;
	readonly error?: SandboxerError;
}

export const snapshots = defineCommand({
	name: "snapshots",
	summary: "Lists stored snapshots; --remove and --prune remove some",
	about:
		"SANDBOX_ID is the id of the sandbox they were taken from, which may be long gone. --prune removes those whose time is\nover. Of --stack it takes the settings.",
	arguments: [{ name: "SANDBOX_ID", optional: true, complete: "sandboxes" }],
	options: {
		...WHERE,
		prune: { type: "boolean", about: "Remove those that are kept no longer" },
		remove: { type: "string", multiple: true, value: "ID", about: "Remove this one" },
	},
	examples: [
		["sandboxer snapshots", "all there are"],
		["sandboxer snapshots --prune", "removes what retention has ended"],
		["sandboxer snapshots --remove box-20261001t120000", "removes one"],
	],
	async run({ words: [sandboxId], values, now, ...invocation }) {
		const { prune = false, remove = [] } = values;
		if (remove.length > 0 && (prune || sandboxId !== undefined))
			throw new UsageError("--remove names snapshots; it takes neither SANDBOX_ID nor --prune.");
		const place = await Place.of({ values, ...invocation });
		if (remove.length > 0) {
			const kept: Kept[] = [];
			for (const id of remove) kept.push(await snapshotOf(place, id));
			return removal(await removed(kept, place), []);
		}
		const { kept, failures } = await snapshotsOf(place, sandboxId === undefined ? {} : { sandboxId });
		const overdue = ({ meta: { expires_at } }: Kept) => expires_at !== undefined && Date.parse(expires_at) <= now();
		if (prune) return removal(await removed(kept.filter(overdue), place), failures);
		return {
			document: { snapshots: kept.map(({ meta }) => meta), failures: failures.map(errorDocument) },
			text: table(
				SNAPSHOT_HEAD,
				kept.map(({ meta }) => snapshotRow(meta, now())),
				failures.length === 0 ? "No snapshots." : "No snapshots where there was an answer.",
			),
			failures,
		};
	},
});

async function removed(all: readonly Kept[], place: Place): Promise<Removed[]> {
	const done: Removed[] = [];
	for (const kept of all) {
		try {
			const report = await kept.extension.removeSnapshot(kept.meta, place.call(CHANGE_SECONDS));
			const error = remaining(`Snapshot ${kept.meta.snapshot_id}`, report.remains);
			done.push(report.remains.length === 0 ? { kept, report } : { kept, report, error });
		} catch (thrown) {
			done.push({ kept, error: SandboxerError.from(thrown) });
		}
	}
	return done;
}

function removal(done: readonly Removed[], failures: readonly SandboxerError[]) {
	const failed = done.flatMap(({ error }) => (error === undefined ? [] : [error]));
	const lines = done.map(({ kept: { meta }, error }) => [meta.snapshot_id, error === undefined ? "removed" : "failed"]);
	return {
		document: {
			removed: done.map(({ kept: { meta }, report, error }) => ({
				snapshot: meta,
				outcome: error === undefined ? "removed" : "failed",
				report: report ?? null,
				error: error === undefined ? null : errorDocument(error),
			})),
			failures: failures.map(errorDocument),
		},
		text: lines.length === 0 ? "No snapshot's time is over." : rows(lines).join("\n"),
		failures: [...failures, ...failed],
	};
}
