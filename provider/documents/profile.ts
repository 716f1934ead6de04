import { z } from "zod";
import { credentialReferenceSchema } from "../credentials";
import { durationSchema, durationSeconds } from "../lease/duration";
import { extensionIdSchema, hostSchema, isolationLevelSchema, sandboxIdLikeSchema } from "./words";

const network = z.strictObject({
	default: z.enum(["deny", "allow"]).default("deny").describe("What the sandbox reaches unless `egress` says more."),
	egress: z
		.array(z.string().min(1))
		.optional()
		.describe("Addresses, networks or names that stay reachable under deny."),
});

const resources = z.strictObject({
	cpu: z.number().positive().max(1024).optional().describe("CPUs, as a number (0.5 is half of one)."),
	memory_mb: z.number().int().positive().max(16_777_216).optional().describe("Memory in MiB."),
});

/** A rule over several keys: checked even where another key is wrong, so that all problems are told at once. */
const always = { when: ({ value }: { readonly value: unknown }) => typeof value === "object" && !Array.isArray(value) };

/** The keys of what such a rule sees: any mapping. */
function keysOf(value: unknown): Readonly<Record<string, unknown>> {
	return (value ?? {}) as Record<string, unknown>;
}

function isWithinMax(ttl: unknown): boolean {
	const [length, max] = [keysOf(ttl).default, keysOf(ttl).max].map((text) =>
		typeof text === "string" ? durationSeconds(text) : undefined,
	);
	return length === undefined || max === undefined || length <= max;
}

const ttl = z
	.strictObject({
		default: durationSchema.default("1h").describe('Lease where the request names none, such as "4h".'),
		max: durationSchema.default("24h").describe("The longest lease."),
		idle_reap: durationSchema.optional().describe("End the sandbox after this long without activity."),
	})
	.refine(isWithinMax, {
		...always,
		path: ["default"],
		error: ({ input }) =>
			`is "${keysOf(input).default}", longer than ttl.max, "${keysOf(input).max}"; shorten it or raise the maximum`,
	});

/**
 * The profile document (`profile.<slug>.yaml`): what is wanted of a sandbox. Keys are snake_case, as in
 * all documents of the system; unknown keys are refused. It names an extension or a route, not both.
 */
export const profileSchema = z
	.strictObject({
		id: sandboxIdLikeSchema
			.regex(/^profile\../, 'must begin with "profile."')
			.describe("`profile.<slug>`, as in the file's name."),
		version: z.string().min(1).describe("The profile's own version, in quotes."),
		extension: extensionIdSchema.optional().describe("The backend, such as `ext.bwrap`. Either this or `route`."),
		route: z
			.strictObject({
				strategy: z.enum(["explicit", "prefer-self-hosted", "lowest-cost", "lowest-latency"]),
				extensions: z.array(extensionIdSchema).min(1),
				max_cost_per_hour_usd: z.number().nonnegative().optional(),
			})
			.optional(),
		isolation: z.strictObject({ level: isolationLevelSchema }),
		network: network.default({ default: "deny" }),
		workspace: z
			.strictObject({
				mode: z
					.enum(["copy", "empty"])
					.default("copy")
					.describe("copy: starts as a copy of `inputs.repo`, if given; empty: starts empty."),
				access: z.enum(["rw", "ro"]).default("rw"),
				scope_default: z.enum(["sandbox"]).default("sandbox").describe("Who shares a workspace: only the one sandbox."),
			})
			.default({ mode: "copy", access: "rw", scope_default: "sandbox" }),
		ttl: ttl.default({ default: "1h", max: "24h" }),
		resources: resources.default({}),
		setup: z
			.strictObject({
				instructions: z.string().optional().describe("Text for whoever works in the sandbox; never run."),
				secret_refs: z
					.array(credentialReferenceSchema)
					.optional()
					.describe(
						"Credentials that commands may ask for: `DB` is the environment variable DB; with `env` or `file` (below /run/secrets) it goes there.",
					),
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
	.refine((profile) => keysOf(profile).extension != null || keysOf(profile).route != null, {
		...always,
		path: ["extension"],
		error: 'is missing: a profile names the extension that makes it, such as "ext.bwrap", or a route',
	})
	.refine((profile) => keysOf(profile).extension == null || keysOf(profile).route == null, {
		...always,
		path: ["route"],
		error: "stands beside extension; keep one of the two",
	})
	.describe("A sandboxer profile: what is wanted of a sandbox.")
	.meta({ oneOf: [{ required: ["extension"] }, { required: ["route"] }] });

/** A profile, defaults filled in. */
export type Profile = z.output<typeof profileSchema>;
/** A profile as it is written. */
export type ProfileDocument = z.input<typeof profileSchema>;
