import type { z } from "zod";
import { fieldPath } from "./field-path";
import { nearest } from "./nearest";
import { toDocumentKey } from "./spelling";
import { wording } from "./wording";

/** A problem with a value of a document. */
export interface DocumentProblem {
	readonly path: readonly PropertyKey[];
	/** What is wrong, as the continuation of a sentence that begins with the path. Never a secret. */
	readonly reason: string;
	/** A key that does not exist: wrong whatever its value. */
	readonly unknownKey?: true;
}

/** A value that passed its schema, or all that is wrong with it. */
export type Judged<T> =
	| { readonly sound: true; readonly data: T }
	| { readonly sound: false; readonly problems: readonly DocumentProblem[] };

function unknownKey(key: string, known: readonly string[]): string {
	const meant = known.includes(toDocumentKey(key)) ? toDocumentKey(key) : nearest(key, known);
	if (meant !== undefined) return `is not a known key; did you mean "${meant}"?`;
	return `is not a known key${known.length === 0 ? "" : `; known here: ${known.join(", ")}`}`;
}

/** The first problem of each path: a second one there is mostly the first in other words. */
export function firstOfEachPath<P extends { readonly path: readonly PropertyKey[] }>(problems: readonly P[]): P[] {
	const seen = new Set<string>();
	return problems.filter(({ path }) => {
		const field = fieldPath(path);
		if (seen.has(field)) return false;
		seen.add(field);
		return true;
	});
}

/** Judges a value by its schema, with this package's wording and all problems at once. */
export function judge<S extends z.ZodType>(schema: S, value: unknown): Judged<z.output<S>> {
	const knownKeys = new Map<string, string[]>();
	const result = schema.safeParse(value, {
		error: (issue) => {
			if (issue.code === "unrecognized_keys") {
				const { shape } = (issue.inst?._zod.def ?? {}) as { shape?: object };
				knownKeys.set(fieldPath(issue.path ?? []), Object.keys(shape ?? {}));
			}
			return wording(issue);
		},
	});
	if (result.success) return { sound: true, data: result.data };
	const problems = result.error.issues.flatMap((issue): DocumentProblem[] => {
		if (issue.code !== "unrecognized_keys") return [{ path: issue.path, reason: issue.message }];
		const known = knownKeys.get(fieldPath(issue.path)) ?? [];
		return issue.keys.map((key) => ({ path: [...issue.path, key], reason: unknownKey(key, known), unknownKey: true }));
	});
	return { sound: false, problems: firstOfEachPath(problems) };
}
