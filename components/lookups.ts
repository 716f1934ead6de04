import * as pulumi from "@pulumi/pulumi";
import type { ExtensionDeclaration } from "../provider/documents/extension";
import type { Profile } from "../provider/documents/profile";
import { SandboxerError } from "../provider/errors";
import { inProgram, searchOfStack } from "./profile-reference";
import { registry } from "./registry";

/** What `estimateCost` asks about. */
export interface EstimateCostArgs {
	/** A profile by name or path. */
	readonly profile: string;
}

/** What a sandbox costs, in USD. */
export interface CostEstimate {
	readonly pricing: "self-hosted" | "metered";
	readonly perHourUsd: number;
	readonly forLeaseUsd: number;
}

/**
 * A profile by name or path, defaults filled in. Works in preview; touches nothing but the profile's file.
 *
 * @example
 * ```ts
 * const { ttl } = getProfile("bwrap-local");
 * ```
 */
export function getProfile(reference: string): Profile {
	return inProgram("getProfile", () => registry().loadProfile(reference, searchOfStack()).profile);
}

export function getProfileOutput(reference: pulumi.Input<string>): pulumi.Output<Profile> {
	return pulumi.output(reference).apply(getProfile);
}

/** All extensions that this stack can use, the package's own and third parties', sorted by id. */
export function getExtensions(): ExtensionDeclaration[] {
	return inProgram("getExtensions", () =>
		registry()
			.loadExtensions(searchOfStack())
			.map(({ file: _file, ...declaration }) => declaration),
	);
}

export function getExtensionsOutput(): pulumi.Output<ExtensionDeclaration[]> {
	return pulumi.output(getExtensions());
}

/**
 * What a sandbox of a profile costs.
 *
 * @example
 * ```ts
 * const { perHourUsd } = estimateCost({ profile: "bwrap-local" });
 * ```
 */
export function estimateCost({ profile }: EstimateCostArgs): CostEstimate {
	return inProgram("estimateCost", () => {
		const { declaration } = registry().loadProfile(profile, searchOfStack());
		if (declaration?.capabilities.pricing_model === "self-hosted")
			return { pricing: "self-hosted", perHourUsd: 0, forLeaseUsd: 0 };
		throw new SandboxerError({
			code: "unsupported",
			message: `Profile ${profile} is not self-hosted: this version cannot estimate its cost yet.`,
			hint: "Ask its vendor.",
		});
	});
}

export function estimateCostOutput(args: pulumi.Input<EstimateCostArgs>): pulumi.Output<CostEstimate> {
	return pulumi.output(args).apply((known) => estimateCost(known as EstimateCostArgs));
}
