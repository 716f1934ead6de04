import { z } from "zod";
import type { Json, Owner, SnapshotMeta } from "../contract";
import { type Profile, profileSchema } from "../documents/profile";
import { sandboxIdSchema } from "../documents/words";
import { durationSchema } from "../lease/duration";
import { ownerSchema } from "./child-inputs";

const networkSchema = z.strictObject({
	default: z.enum(["deny", "allow"]).optional(),
	egress: z.array(z.string().min(1)).optional(),
});

/** The inputs of a sandbox resource: the component's args by their own names, the profile in full, and the owner. */
export const sandboxInputsSchema = z.strictObject({
	extension: z.string(),
	profile: profileSchema,
	network: networkSchema.optional(),
	resources: z
		.strictObject({
			cpu: z.number().positive().max(1024).optional(),
			memoryMb: z.number().int().positive().max(16_777_216).optional(),
		})
		.optional(),
	inputs: z.record(z.string(), z.json()).default({}),
	restoreFrom: z
		.looseObject({ extension: z.string(), snapshot_id: z.string(), sandbox_id: z.string(), sha256: z.string() })
		.optional(),
	consumer: z.strictObject({ actor: z.enum(["adm", "agt", "atm"]), project: z.string().min(1) }).optional(),
	ttl: durationSchema.nullish(),
	sandboxId: sandboxIdSchema.optional(),
	timeouts: z
		.strictObject({
			create: durationSchema.optional(),
			update: durationSchema.optional(),
			delete: durationSchema.optional(),
		})
		.default({}),
	adopt: z.boolean().default(false),
	onExpired: z.enum(["recreate", "keep"]).default("recreate"),
	labels: z.record(z.string(), z.string()).default({}),
	/** The resource option of that name: the engine cannot apply it to a dynamic resource. */
	replaceOnChanges: z.array(z.string()).optional(),
	owner: ownerSchema,
	/** Filled in by check, so that a preview shows them; given back unchanged by the engine. */
	phase: z.unknown().optional(),
	route: z.unknown().optional(),
	quote: z.unknown().optional(),
});

/** What check makes of the inputs: everything filled in. Any part may be the engine's marker for an unknown value. */
export interface SandboxInputs {
	readonly extension: string;
	readonly profile: Profile;
	/** In force: the profile's, narrowed by the request. */
	readonly network: Profile["network"];
	readonly resources: { readonly cpu?: number; readonly memoryMb?: number };
	readonly inputs: Readonly<Record<string, Json>>;
	/** The workspace comes out of it. */
	readonly restoreFrom?: SnapshotMeta;
	readonly consumer?: { readonly actor: "adm" | "agt" | "atm"; readonly project: string };
	readonly ttl: string;
	readonly sandboxId: string;
	readonly timeouts: {
		readonly create?: string | undefined;
		readonly update?: string | undefined;
		readonly delete?: string | undefined;
	};
	readonly adopt: boolean;
	readonly onExpired: "recreate" | "keep";
	readonly labels: Readonly<Record<string, string>>;
	readonly replaceOnChanges?: readonly string[];
	readonly owner: Owner;
	/** What is wanted: always "ready". What is, stands in the outputs. */
	readonly phase: "ready";
	readonly route: Json;
	readonly quote: Json;
}

/** The profile with the request's own network and resources in it: what an extension is given. */
export function effectiveProfile({
	profile,
	network,
	resources,
}: Pick<SandboxInputs, "profile" | "network" | "resources">): Profile {
	const { cpu, memoryMb } = resources;
	return {
		...profile,
		network,
		resources: { ...(cpu === undefined ? {} : { cpu }), ...(memoryMb === undefined ? {} : { memory_mb: memoryMb }) },
	};
}
