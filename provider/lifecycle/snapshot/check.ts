import { createHash } from "node:crypto";
import type { Handle, Json, Problem, SandboxExtension } from "../../contract";
import { parseAroundUnknowns } from "../../documents/parse-around-unknowns";
import { holdsUnknown, isUnknown, UNKNOWN } from "../../documents/unknown";
import { withoutAbsent } from "../child-inputs";
import { isEqual } from "../replacing";
import { generatedId } from "../sandbox-id";
import { type SnapshotInputs, snapshotInputsSchema } from "./inputs";

/**
 * Validates around what is not known yet, and fixes the snapshot's id: the same resource, triggers and life of a
 * sandbox have the same, so that a retry finds what an earlier run took. Pure.
 *
 * @param olds - The inputs of the last up, or nothing.
 */
export function checkSnapshot(
	extension: () => SandboxExtension,
	olds: Partial<SnapshotInputs>,
	news: Record<string, unknown>,
): { readonly inputs: Record<string, unknown>; readonly problems: readonly Problem[] } {
	const { value, problems } = parseAroundUnknowns(snapshotInputsSchema, news, isUnknown);
	if (problems.length > 0) return { inputs: news, problems };
	const asked = value as Omit<SnapshotInputs, "snapshotId"> & { readonly snapshotId?: string };
	return {
		inputs: withoutAbsent({ ...asked, snapshotId: fixedId(asked, olds) } as Record<string, unknown>),
		problems: [...sameIdAgain(asked, olds), ...unsupported(asked.extension, extension)],
	};
}

function fixedId(
	{
		snapshotId,
		triggers,
		handle,
		owner,
	}: Pick<SnapshotInputs, "triggers" | "handle" | "owner"> & { readonly snapshotId?: string },
	olds: Partial<SnapshotInputs>,
): string {
	if (snapshotId !== undefined) return snapshotId;
	if (olds.snapshotId !== undefined && !isUnknown(olds.snapshotId) && isEqual(olds.triggers, triggers))
		return olds.snapshotId;
	const facts = factsOf(handle, triggers);
	return facts === undefined || holdsUnknown(owner) ? UNKNOWN : generatedId(owner, digest(facts));
}

/** What tells one snapshot of a resource from its next; undefined while it is not known. */
function factsOf(handle: Handle, triggers: readonly Json[] | undefined): readonly unknown[] | undefined {
	if (isUnknown(handle) || holdsUnknown(handle) || holdsUnknown(triggers)) return undefined;
	return [handle.sandbox_id, handle.generation, triggers ?? null];
}

function digest(facts: readonly unknown[]): string {
	return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/** The archive that has an id of the program's own stays: another one needs another id. */
function sameIdAgain(
	{ snapshotId, triggers }: { readonly snapshotId?: string; readonly triggers?: readonly Json[] },
	olds: Partial<SnapshotInputs>,
): Problem[] {
	if (snapshotId === undefined || isUnknown(snapshotId) || olds.snapshotId !== snapshotId) return [];
	if (holdsUnknown(triggers) || isEqual(olds.triggers, triggers)) return [];
	return [
		{
			field: "snapshotId",
			reason: `is still ${JSON.stringify(snapshotId)}, which is taken and stays, though triggers have changed. Give another one, or leave it out.`,
		},
	];
}

function unsupported(id: string, extension: () => SandboxExtension): Problem[] {
	if (isUnknown(id) || extension().supportsSnapshots()) return [];
	return [{ field: "sandbox", reason: `is one of ${id}, which takes no snapshots. Use an extension that does.` }];
}
