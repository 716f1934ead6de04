import type { ConformanceAdapter } from "./adapter";
import type { PartName } from "./case";
import type { PlannedPart } from "./plan";

/** How the cases of a part came out. */
export interface PartOutcome {
	readonly passed: number;
	readonly failed: number;
}

/** What was shown of an extension: a line a part. */
export function reportOf(
	{ name }: ConformanceAdapter,
	plan: readonly PlannedPart[],
	outcomes: ReadonlyMap<PartName, PartOutcome>,
): string {
	return plan.map((part) => `${name}: ${lineOf(part, outcomes.get(part.name) ?? { passed: 0, failed: 0 })}\n`).join("");
}

function lineOf({ name, supported, cases, notShown }: PlannedPart, { passed, failed }: PartOutcome): string {
	if (failed > 0) return `${name}: NOT SHOWN, ${failed} of ${cases.length} cases failed`;
	if (!supported) return `${name}: not supported${passed === cases.length ? ", and refused" : ""}`;
	const missing = notShown.length === 0 ? "" : `; not shown: ${notShown.length}`;
	if (passed < cases.length) return `${name}: not shown, ${passed} of ${cases.length} cases were run${missing}`;
	return `${name}: supported (${passed} cases${missing})`;
}
