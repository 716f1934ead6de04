import { createHash } from "node:crypto";
import type { Json, SnapshotMeta } from "../contract";
import { isUnknown } from "../documents/unknown";
import type { SandboxInputs } from "./inputs";

/** What another value of means another sandbox, by the key that a person sees in the diff. */
export function replacing(inputs: Partial<SandboxInputs>): Readonly<Record<string, unknown>> {
	const { extension, profile, network, resources, inputs: given, restoreFrom } = inputs;
	const { isolation, workspace, setup, reachability } = profile ?? {};
	return {
		extension,
		profile: { isolation, workspace, setup, reachability },
		network,
		resources,
		inputs: given,
		restoreFrom: restoreFrom === undefined ? undefined : sameSnapshot(restoreFrom),
	};
}

/** What makes a snapshot the same one: not its labels, nor where it is kept. */
function sameSnapshot(snapshot: SnapshotMeta): unknown {
	if (isUnknown(snapshot)) return snapshot;
	const { snapshot_id, sha256 } = snapshot;
	return { snapshot_id, sha256 };
}

/** The same digest is the same sandbox. */
export function replacingDigest(inputs: Partial<SandboxInputs>): string {
	return createHash("sha256")
		.update(canonical(replacing(inputs)))
		.digest("hex")
		.slice(0, 32);
}

export function isEqual(a: unknown, b: unknown): boolean {
	return canonical(a) === canonical(b);
}

/** JSON with sorted keys; absent and undefined are the same. */
function canonical(value: unknown): string {
	return (
		JSON.stringify(value, (_key, member: Json) =>
			typeof member === "object" && member !== null && !Array.isArray(member)
				? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
				: member,
		) ?? "null"
	);
}
