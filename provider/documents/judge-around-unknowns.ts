import type { z } from "zod";
import { type DocumentProblem, judge } from "./problems";
import { isPlainObject } from "./spelling";

/** Recognises what stands in place of a value that is not known yet. */
export type IsUnknown = (value: unknown) => boolean;

/** What became of a value of which parts are not known yet. */
export interface JudgedAround<T> {
	/** The parsed value, defaults filled in; unknown values stand in it as they came. Of no use where there are problems. */
	readonly value: T;
	/** Only what is wrong whatever the unknown values turn out to be. */
	readonly problems: readonly DocumentProblem[];
}

/**
 * Judges a value of which parts are not known yet: issues at, below or above an unknown value are dropped,
 * since they may vanish once it is known. A key that does not exist is always told.
 */
export function judgeAroundUnknowns<S extends z.ZodType>(
	schema: S,
	value: unknown,
	isUnknown: IsUnknown,
): JudgedAround<z.output<S>> {
	const judged = judge(schema, value);
	if (judged.sound) return { value: judged.data, problems: [] };
	return {
		value: parsedInPart(schema, value) as z.output<S>,
		problems: judged.problems.filter((problem) => !touchesUnknown(value, problem, isUnknown)),
	};
}

/** What the schema makes of a value in spite of its issues: each part that did not pass stays as it came. */
function parsedInPart(schema: z.core.$ZodType, value: unknown): unknown {
	const payload = schema._zod.run({ value, issues: [] }, { async: false });
	return payload instanceof Promise ? value : payload.value;
}

/** Whether the place a problem names is, lies in, or holds an unknown value. */
function touchesUnknown(root: unknown, { path, unknownKey }: DocumentProblem, isUnknown: IsUnknown): boolean {
	let here = root;
	for (const step of path) {
		if (isUnknown(here)) return true;
		here = typeof here === "object" && here !== null ? (here as Record<PropertyKey, unknown>)[step] : undefined;
	}
	return unknownKey !== true && holdsUnknown(here, isUnknown);
}

function holdsUnknown(value: unknown, isUnknown: IsUnknown): boolean {
	if (isUnknown(value)) return true;
	if (Array.isArray(value)) return value.some((entry) => holdsUnknown(entry, isUnknown));
	return isPlainObject(value) && Object.values(value).some((entry) => holdsUnknown(entry, isUnknown));
}
