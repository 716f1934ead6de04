import type { Problem, Profile } from "../contract";
import { isUnknown } from "../documents/unknown";
import type { SandboxInputs } from "./inputs";

interface RequestedNetwork {
	readonly default?: "deny" | "allow" | undefined;
	readonly egress?: string[] | undefined;
}

interface Requested {
	readonly network?: RequestedNetwork | undefined;
	readonly resources?: { readonly cpu?: number | undefined; readonly memoryMb?: number | undefined } | undefined;
}

/** What is in force of network and resources: the profile's, which a request may narrow, never widen. */
export function withinBounds(
	profile: Profile,
	{ network, resources }: Requested,
): {
	readonly network: SandboxInputs["network"];
	readonly resources: SandboxInputs["resources"];
	readonly problems: Problem[];
} {
	const problems: Problem[] = [];
	const limit = (
		field: string,
		asked: number | undefined,
		max: number | undefined,
		unit: string,
	): number | undefined => {
		if (typeof asked === "number" && typeof max === "number" && asked > max)
			problems.push({
				field,
				reason: `is ${asked}${unit}, above the profile's ${max}${unit}. Ask for less, or use a larger profile.`,
			});
		return asked ?? max;
	};
	const cpu = limit("resources.cpu", resources?.cpu, profile.resources.cpu, "");
	const memoryMb = limit("resources.memoryMb", resources?.memoryMb, profile.resources.memory_mb, " MiB");
	return {
		network: narrowed(profile.network, network, problems),
		resources: { ...(cpu === undefined ? {} : { cpu }), ...(memoryMb === undefined ? {} : { memoryMb }) },
		problems,
	};
}

function narrowed(
	bound: Profile["network"],
	asked: RequestedNetwork | undefined,
	problems: Problem[],
): Profile["network"] {
	// Unknown as a whole: nothing can be said yet.
	if (asked === undefined || isUnknown(asked)) return (asked as Profile["network"] | undefined) ?? bound;
	if (bound.default === "deny" && asked.default === "allow")
		problems.push({
			field: "network.default",
			reason: 'is "allow", but the profile says "deny". Use a profile that allows it.',
		});
	const reachable = bound.egress;
	if (bound.default === "deny" && Array.isArray(asked.egress)) {
		const more = asked.egress.filter(
			(place) => !isUnknown(place) && !(Array.isArray(reachable) && reachable.includes(place)),
		);
		if (more.length > 0)
			problems.push({
				field: "network.egress",
				reason: `names ${more.join(", ")}, which the profile does not allow. Use a profile that does.`,
			});
	}
	const egress = asked.egress ?? (asked.default === "deny" && bound.default === "allow" ? undefined : reachable);
	return { default: asked.default ?? bound.default, ...(egress === undefined ? {} : { egress }) };
}
