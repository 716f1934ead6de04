import { z } from "zod";
import type { Handle, Json, Owner, SnapshotMeta } from "../../contract";
import { sandboxIdSchema } from "../../documents/words";
import { durationSchema } from "../../lease/duration";
import { childInputs } from "../child-inputs";

/** The inputs of a snapshot: the args by their own names, the sandbox's handle, and the owner. */
export const snapshotInputsSchema = z.strictObject({
	...childInputs,
	snapshotId: sandboxIdSchema.optional(),
	triggers: z.array(z.json()).optional(),
	keep: durationSchema.optional(),
	labels: z.record(z.string(), z.string()).default({}),
	timeout: durationSchema.default("30m"),
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
