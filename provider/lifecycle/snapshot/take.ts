import type { SnapshotMeta } from "../../contract";
import { durationSeconds } from "../../lease/duration";
import { type Backend, callOf } from "../backend";
import type { SnapshotInputs, SnapshotOutputs } from "./inputs";

/** Takes it, or finds the one that an earlier run took and could not tell of. */
export async function takeSnapshot(backend: Backend, inputs: SnapshotInputs): Promise<SnapshotOutputs> {
	const { handle, snapshotId, labels, keep, timeout, owner } = inputs;
	const begun = backend.now();
	const keepSeconds = keep === undefined ? undefined : durationSeconds(keep);
	const snapshot = await backend.extension.snapshot(handle, {
		...callOf(backend, durationSeconds(timeout) ?? 0),
		snapshotId,
		labels,
		owner,
		...(keepSeconds === undefined ? {} : { keepSeconds }),
	});
	if (Date.parse(snapshot.created_at) < begun - CLOCKS_APART_MS)
		backend.info(`it is there already, taken at ${snapshot.created_at}: other triggers take another`);
	else backend.info(`${snapshot.file_count} files, ${snapshot.size_bytes} bytes, ${keptUntil(snapshot)}`);
	if (!snapshot.consistent)
		backend.warn(`changed while it was read: ${listed(snapshot.changed, snapshot["changed_count"])}`);
	const left = (snapshot["left_out"] ?? []) as unknown as readonly { readonly path: string; readonly reason: string }[];
	const leftOut = left.map(({ path, reason }) => `${path} ${reason}`);
	if (left.length > 0) backend.warn(`left out: ${listed(leftOut, snapshot["left_out_count"])}`);
	return { ...inputs, snapshot };
}

/** The clock of the place may be another. */
const CLOCKS_APART_MS = 60_000;

const SHOWN = 5;

function listed(items: readonly string[], count: unknown): string {
	const more = (typeof count === "number" ? count : items.length) - Math.min(items.length, SHOWN);
	return `${items.slice(0, SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

export function keptUntil({ expires_at }: SnapshotMeta): string {
	return expires_at === undefined ? "kept until somebody removes it" : `kept until ${expires_at}`;
}
