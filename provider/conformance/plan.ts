import type { ConformanceAdapter } from "./adapter";
import { abilitiesOf } from "./caller";
import type { Case, Need, PartName } from "./case";
import { EXECUTION } from "./execution";
import { HANDLES } from "./handles";
import { LEASES } from "./leases";
import { LIFECYCLE } from "./lifecycle";
import type { Abilities } from "./messages";
import { limitedProfile } from "./profiles";
import { REFUSALS } from "./refusals";
import { SNAPSHOTS } from "./snapshots";

/** What the kit will try of one extension, and what it cannot show. */
export interface PlannedPart {
	readonly name: PartName;
	/** Whether the extension says that it does this. */
	readonly supported: boolean;
	readonly cases: readonly Case[];
	/** Cases that the adapter gives no means for, with what is missing. */
	readonly notShown: readonly { readonly name: string; readonly missing: readonly Need[] }[];
}

/** Asks the extension, offline, what it says that it can do. */
export function planFor(adapter: ConformanceAdapter): readonly PlannedPart[] {
	const abilities = abilitiesOf(adapter, limitedProfile(adapter));
	const has = meansOf(adapter, abilities);
	const part = (name: PartName, supported: boolean, cases: readonly Case[]): PlannedPart => {
		const missing = ({ needs = [] }: Case) => needs.filter((need) => !has.has(need));
		return {
			name,
			supported,
			cases: supported ? cases.filter((one) => missing(one).length === 0) : (REFUSALS[name] ?? []),
			notShown: supported
				? cases.filter((one) => missing(one).length > 0).map((one) => ({ name: one.name, missing: missing(one) }))
				: [],
		};
	};
	return [
		part("lifecycle", true, LIFECYCLE),
		part("handles", true, HANDLES),
		part("execution", abilities.execution, EXECUTION),
		part("snapshots", abilities.snapshots, SNAPSHOTS),
		part("leases", abilities.leaseExtension, LEASES),
	];
}

function meansOf(adapter: ConformanceAdapter, abilities: Abilities): Set<Need> {
	const { traces, crash, plant, checkpoints = [], programs = [], profile } = adapter;
	const means: [boolean, Need][] = [
		[traces !== undefined, "traces"],
		[crash !== undefined, "crash"],
		[profile.isolation.level === "process", "process isolation"],
		[(profile.network?.default ?? "deny") === "deny", "network deny"],
		[!abilities.problems.some(({ field }) => field.includes("memory_mb")), "a memory limit"],
		[abilities.implements.includes("locate"), "locate"],
		[abilities.implements.includes("claim"), "claim"],
		[abilities.execution, "execution"],
		[abilities.leaseExtension, "leases"],
		[abilities.snapshots, "snapshots"],
		[abilities.implements.includes("expire"), "expire"],
		[plant !== undefined, "plant"],
	];
	const marks = checkpoints.map((checkpoint): Need => `checkpoint ${checkpoint}`);
	return new Set([...means.filter(([is]) => is).map(([, need]) => need), ...programs, ...marks]);
}
