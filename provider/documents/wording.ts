import type { z } from "zod";

/** The longest offending word that a message repeats. */
const SHOWN = 40;

const KIND_NAMES: Readonly<Record<string, string>> = {
	string: "a text",
	number: "a number",
	int: "a whole number",
	boolean: "true or false",
	array: "a list",
	object: "a mapping",
	record: "a mapping",
	null: "null",
};

function kindOf(value: unknown): string {
	if (value === null) return "null";
	return Array.isArray(value) ? "array" : typeof value;
}

function named(kind: string): string {
	return KIND_NAMES[kind] ?? kind;
}

function shown(value: unknown): string {
	if (typeof value === "string") return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
	return typeof value === "number" || typeof value === "boolean" ? String(value) : named(kindOf(value));
}

function wrongType(expected: string, input: unknown): string {
	const kind = kindOf(input);
	if (expected === "string" && kind === "number") return `is the number ${shown(input)}, not a text; put it in quotes`;
	if (expected === "string" && kind === "boolean") return `is ${shown(input)}, not a text; put it in quotes`;
	if (kind === "number" && !Number.isFinite(input)) return "is not a finite number";
	if (kind === "number") return `is ${shown(input)}; ${named(expected)} is wanted`;
	return `is ${named(kind)}; ${named(expected)} is wanted${kind === "string" && expected !== "array" && expected !== "object" ? ", without quotes" : ""}`;
}

function outOfBounds(issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>): string {
	const small = issue.code === "too_small";
	const bound = String(small ? issue.minimum : issue.maximum);
	if (issue.origin === "string" || issue.origin === "array" || issue.origin === "set") {
		const unit = issue.origin === "string" ? "characters" : "entries";
		return small && bound === "1" ? "is empty" : `must have ${small ? "at least" : "at most"} ${bound} ${unit}`;
	}
	const relation = issue.inclusive === false ? (small ? "more than" : "less than") : small ? "at least" : "at most";
	return `is ${shown(issue.input)}; it must be ${relation} ${bound}`;
}

function noneFits(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
	const kinds = issue.errors.map(([first]) =>
		first?.code === "invalid_type" && first.path.length === 0 ? named(first.expected) : undefined,
	);
	if (kinds.length === 0 || kinds.includes(undefined)) return "has none of the allowed forms";
	return `is ${named(kindOf(issue.input))}; it must be ${kinds.join(" or ")}`;
}

/**
 * What is wrong with a value, as the continuation of a sentence that begins with its field. Repeats
 * numbers and words that were to be one of a few; never a free text, which may be a secret.
 */
export function wording(issue: z.core.$ZodRawIssue): string {
	const allowed =
		issue.code === "invalid_value"
			? `; allowed values: ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`
			: "";
	if (issue.input === undefined) return `is missing${allowed}`;
	if (issue.input === null) return `has no value (null); write one, or leave the key out where it may be${allowed}`;
	switch (issue.code) {
		case "invalid_type":
			return wrongType(issue.expected, issue.input);
		case "invalid_value":
			return `is ${shown(issue.input)}${allowed}`;
		case "too_small":
		case "too_big":
			return outOfBounds(issue);
		case "not_multiple_of":
			return `is ${shown(issue.input)}; it must be a multiple of ${issue.divisor}`;
		case "invalid_union":
			return noneFits(issue);
		case "invalid_key":
			return "has a key of the wrong form";
		default:
			return "does not have the right form";
	}
}
