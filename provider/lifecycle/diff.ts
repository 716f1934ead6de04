import type { SandboxExtension } from "../contract";
import { holdsUnknown } from "../documents/unknown";
import { durationSeconds } from "../lease/duration";
import type { SandboxInputs } from "./inputs";
import { type SandboxOutputs, STATE_VERSION } from "./outputs";
import { isEqual, replacing } from "./replacing";

/** What the engine is to do, in its own words. */
export interface Difference {
	readonly changes: boolean;
	readonly replaces: readonly string[];
	/** For a sandbox always: the id is the same thing's id, and two of it cannot be. */
	readonly deleteBeforeReplace: boolean;
}

/** What changes in place. */
const UPDATING = [
	"profile",
	"consumer",
	"sandboxId",
	"timeouts",
	"adopt",
	"onExpired",
	"labels",
	"replaceOnChanges",
	"owner",
	"route",
	"quote",
] as const satisfies readonly (keyof SandboxInputs)[];

/**
 * What the new inputs mean for what is there. Symmetric, because a refresh asks it the other way round; a
 * value that is not known yet never makes a replacement, only a change.
 */
export function diff(extension: SandboxExtension, olds: Partial<SandboxOutputs>, news: SandboxInputs): Difference {
	const changed = changedInPlace(olds, news);
	const replaces = [
		...replacedBySettings(olds, news),
		...replacedById(olds, news),
		...replacedByPhase(olds),
		...changed.filter((key) => isReplacing(extension, news, key)),
	];
	const unknown = Object.values(replacing(news)).some(holdsUnknown);
	const unfinished = olds.phase === "waiting" || olds.stateVersion !== STATE_VERSION;
	return {
		changes: replaces.length > 0 || changed.length > 0 || unknown || unfinished,
		replaces: [...new Set(replaces)],
		deleteBeforeReplace: true,
	};
}

function changedInPlace(olds: Partial<SandboxOutputs>, news: SandboxInputs): string[] {
	const updated = UPDATING.filter((key) => holdsUnknown(news[key]) || !isEqual(olds[key], news[key]));
	return isSameTtl(olds.ttl, news.ttl) ? updated : [...updated, "ttl"];
}

/** Whether a change that could be made in place replaces all the same: the program says so, or the backend cannot. */
function isReplacing(extension: SandboxExtension, news: SandboxInputs, key: string): boolean {
	if (holdsUnknown(news[key as keyof SandboxInputs])) return false;
	if (key === "ttl" && !extension.supportsLeaseExtension()) return true;
	return (news.replaceOnChanges ?? []).some((path) => path === "*" || path.split(/[.[]/)[0] === key);
}

function replacedBySettings(olds: Partial<SandboxOutputs>, news: SandboxInputs): string[] {
	const before = replacing({ ...olds, phase: "ready" });
	return Object.entries(replacing(news))
		.filter(([key, value]) => !holdsUnknown(value) && !isEqual(before[key], value))
		.map(([key]) => key);
}

function replacedById({ sandboxId }: Partial<SandboxOutputs>, news: SandboxInputs): string[] {
	return holdsUnknown(news.sandboxId) || sandboxId === news.sandboxId ? [] : ["sandboxId"];
}

function replacedByPhase({ phase, onExpired }: Partial<SandboxOutputs>): string[] {
	if (phase === "gone" || phase === "altered") return ["phase"];
	return phase === "expired" && onExpired !== "keep" ? ["phase"] : [];
}

/** `60m` and `1h` are the same lease. */
export function isSameTtl(a: string | undefined, b: string | undefined): boolean {
	return (
		a === b ||
		(a !== undefined &&
			b !== undefined &&
			durationSeconds(a) === durationSeconds(b) &&
			durationSeconds(a) !== undefined)
	);
}
