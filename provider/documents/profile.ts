import { z } from "zod";
import { durationSchema } from "../lease/duration";
import { hostSchema, sandboxIdLikeSchema } from "./words";

const network = z.strictObject({
	default: z.enum(["deny", "allow"]).default("deny").describe("What the sandbox reaches unless `egress` says more."),
	egress: z.array(z.string().min(1)).optional().describe("Addresses, networks or names that stay reachable under deny."),
});

const resources = z.strictObject({
	cpu: z.number().positive().max(1024).optional().describe("CPUs, as a number (0.5 is half of one)."),
	memory_mb: z.number().int().positive().max(16_777_216).optional().describe("Memory in MiB."),
});

/**
 * The profile document (`profile.<slug>.yaml`): what is wanted of a sandbox. Keys are snake_case, as in
 * all documents of the system; unknown keys are refused.
 */
export const profileSchema = z
	.strictObject({
		id: sandboxIdLikeSchema.describe("`profile.<slug>`."),
		version: z.string().min(1).describe("The profile's own version, in quotes."),
		extension: z.string().regex(/^ext\.[a-z0-9]+(-[a-z0-9]+)*$/, "looks like \"ext.bwrap\"").optional(),
		route: z
			.strictObject({
				strategy: z.enum(["explicit", "prefer-self-hosted", "lowest-cost", "lowest-latency"]),
				extensions: z.array(z.string()).min(1),
				max_cost_per_hour_usd: z.number().nonnegative().optional(),
			})
			.optional(),
		isolation: z.strictObject({ level: z.enum(["process", "container", "vm", "microvm"]) }),
		network: network.default({ default: "deny" }),
		workspace: z
			.strictObject({
				mode: z.enum(["copy", "empty"]).default("copy").describe("copy: starts as a copy of `inputs.repo`, if given; empty: starts empty."),
				access: z.enum(["rw", "ro"]).default("rw"),
				scope_default: z.enum(["sandbox"]).default("sandbox").describe("Who shares a workspace: only the one sandbox."),
			})
			.default({ mode: "copy", access: "rw", scope_default: "sandbox" }),
		ttl: z
			.strictObject({
				default: durationSchema.default("1h").describe("Lease where the request names none, such as \"4h\"."),
				max: durationSchema.default("24h").describe("The longest lease."),
				idle_reap: durationSchema.optional().describe("End the sandbox after this long without activity."),
			})
			.default({ default: "1h", max: "24h" }),
		resources: resources.default({}),
		setup: z
			.strictObject({
				instructions: z.string().optional().describe("Text for whoever works in the sandbox; never run."),
				secret_refs: z.array(z.string().regex(/^[A-Z][A-Z0-9_]*$/, "is upper case, such as \"DB\"")).optional(),
			})
			.optional(),
		placement: z
			.strictObject({ prefer: z.array(hostSchema).optional(), fallback: z.array(hostSchema).optional() })
			.optional(),
		reachability: z
			.strictObject({ tunnel: z.enum(["none", "ssh"]).optional(), identity: z.string().optional() })
			.optional(),
		metadata: z.strictObject({ cost_class: z.string().optional(), latency_class: z.string().optional() }).optional(),
	})
	.describe("A sandboxer profile: what is wanted of a sandbox.");

/** A profile, defaults filled in. */
export type Profile = z.output<typeof profileSchema>;
/** A profile as it is written. */
export type ProfileDocument = z.input<typeof profileSchema>;
