import type { z } from "zod";
import { fieldPath } from "./field-path";
import { type IsUnknown, judgeAroundUnknowns } from "./judge-around-unknowns";

/** A problem with a field, as `check` reports it. */
export interface FieldProblem {
	/** The field, such as `placement.prefer[0]`. */
	readonly field: string;
	/** What is wrong, as the continuation of a sentence that begins with the field. Never a secret. */
	readonly reason: string;
}

/** A value of which parts may be unknown, parsed. */
export interface ParsedAround<T> {
	/** Defaults filled in; unknown values stand in it as they came. Of no use where there are problems. */
	readonly value: T;
	/** Only what is wrong whatever the unknown values turn out to be. */
	readonly problems: readonly FieldProblem[];
}

/**
 * Parses a value of which parts are not known yet, as `check` sees it during preview. Issues at, below or
 * above an unknown value are dropped; what is left is told with the wording of the document readers.
 *
 * @param isUnknown - Recognises what stands in place of a value that is not known yet.
 *
 * @example
 * ```ts
 * parseAroundUnknowns(profileSchema, document, (value) => value === "04da6b54-80e4-46f7-96ec-b56ff0331ba9");
 * ```
 */
export function parseAroundUnknowns<S extends z.ZodType>(
	schema: S,
	value: unknown,
	isUnknown: IsUnknown,
): ParsedAround<z.output<S>> {
	const judged = judgeAroundUnknowns(schema, value, isUnknown);
	return {
		value: judged.value,
		problems: judged.problems.map(({ path, reason }) => ({ field: fieldPath(path), reason })),
	};
}
