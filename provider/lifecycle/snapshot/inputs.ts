import { z } from "zod";
import type { Handle, Json, Owner, SnapshotMeta } from "../../contract";
import { sandboxIdSchema } from "../../documents/words";
import { durationSchema } from "../../lease/duration";

/** The inputs of a snapshot: the args by their own names, the sandbox's handle, and the owner. */
export const snapshotInputsSchema = z.strictObject({
	extension: z.string(),
	handle: z.looseObject({ extension: z.string(), sandbox_id: z.string(), host: z.string(), generation: z.number() }),
	snapshotId: sandboxIdSchema.optional(),
	triggers: z.array(z.json()).optional(),
	keep: durationSchema.optional(),
	labels: z.record(z.string(), z.string()).default({}),
	timeout: durationSchema.default("30m"),
	owner: z.strictObject({ scope: z.string(), project: z.string(), stack: z.string(), urn: z.string() }),
});

/** What check makes of the inputs. Any part may be the engine's marker for an unknown value. */
export interface SnapshotInputs {
	readonly extension: string;
	/** Of the sandbox it is taken of; another one is no change. */
	readonly handle: Handle;
	readonly snapshotId: string;
	readonly triggers?: readonly Json[];
	readonly keep?: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly timeout: string;
	readonly owner: Owner;
}

export interface SnapshotOutputs extends SnapshotInputs {
	readonly snapshot: SnapshotMeta;
}

/** The inputs that outputs were made of. */
export function snapshotInputsOf(outputs: Readonly<Record<string, unknown>>): Record<string, unknown> {
	return Object.fromEntries(Object.entries(outputs).filter(([key]) => key in snapshotInputsSchema.shape));
}
