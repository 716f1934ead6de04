import type { SandboxExtension, SnapshotMeta } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { LOOK_SECONDS, type Place } from "./place";

/** A stored snapshot, and who has it. */
export interface Kept {
	readonly extension: SandboxExtension;
	readonly meta: SnapshotMeta;
}

/** The snapshots of a sandbox, or all. */
export async function snapshotsOf(
	place: Place,
	query: { readonly sandboxId?: string },
): Promise<{ readonly kept: readonly Kept[]; readonly failures: readonly SandboxerError[] }> {
	const { answers, failures } = await place.ask("list snapshots", (extension) =>
		extension.snapshots(query, place.call(LOOK_SECONDS)),
	);
	return { kept: answers.flatMap(({ extension, value }) => value.map((meta) => ({ extension, meta }))), failures };
}

/**
 * The one snapshot of an id.
 *
 * @throws SandboxerError `gone` where there is none, `conflict` where several extensions have one of that id, the
 * first failure where not everybody answered.
 */
export async function snapshotOf(place: Place, id: string): Promise<Kept> {
	const { kept, failures } = await snapshotsOf(place, {});
	const [only, second] = kept.filter(({ meta }) => meta.snapshot_id === id);
	if (only !== undefined && second === undefined) return only;
	if (only !== undefined) {
		throw new SandboxerError({
			code: "conflict",
			message: `${JSON.stringify(id)} is a snapshot of several extensions.`,
			hint: "Say which with --extension.",
		});
	}
	const [failure] = failures;
	if (failure !== undefined) throw failure;
	throw new SandboxerError({
		code: "gone",
		message: `There is no snapshot ${JSON.stringify(id)}.`,
		hint: "sandboxer snapshots shows those there are.",
	});
}
