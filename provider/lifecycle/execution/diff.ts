import type { Handle } from "../../contract";
import { holdsUnknown, isUnknown } from "../../documents/unknown";
import type { Difference } from "../diff";
import { isEqual } from "../replacing";
import type { ExecutionInputs } from "./inputs";

/** What another value of makes the command run again. */
const RERUNNING = [
	"extension",
	"command",
	"cwd",
	"env",
	"stdin",
	"user",
	"credentials",
	"triggers",
] as const satisfies readonly (keyof ExecutionInputs)[];

/** What is only written down. */
const RECORDED = ["handle", "timeout", "mayFail", "owner"] as const satisfies readonly (keyof ExecutionInputs)[];

/**
 * A command runs again in another sandbox, or another life of it, and where what it runs with has changed; what
 * is not known yet makes it a change, never a replacement.
 */
export function diffExecution(olds: Partial<ExecutionInputs>, news: ExecutionInputs): Difference {
	const changed = (key: keyof ExecutionInputs) => !isEqual(olds[key], news[key]);
	const replaces = [
		...RERUNNING.filter((key) => changed(key) && !holdsUnknown(news[key])),
		...(isOtherSandbox(olds.handle, news.handle) ? ["handle"] : []),
	];
	return {
		changes: replaces.length > 0 || [...RERUNNING, ...RECORDED].some(changed),
		replaces,
		deleteBeforeReplace: false,
	};
}

function isOtherSandbox(before: Handle | undefined, after: Handle): boolean {
	if (isUnknown(after) || holdsUnknown(after.sandbox_id) || holdsUnknown(after.generation)) return false;
	return before?.sandbox_id !== after.sandbox_id || before.generation !== after.generation;
}
