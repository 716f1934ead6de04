import { z } from "zod";
import { nearest } from "../../provider/documents/nearest";
import { judge } from "../../provider/documents/problems";

const schema = z.strictObject({
	text: z.string().min(1),
	few: z.array(z.string()).min(1).max(2).optional(),
	level: z.enum(["low", "high"]),
	cpu: z.number().positive().max(4).optional(),
	count: z.number().int().multipleOf(2).optional(),
	open: z.boolean().optional(),
	config: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
	inner: z.strictObject({ memory_mb: z.number() }).optional(),
});

function problems(value: unknown): Record<string, string> {
	const judged = judge(schema, value);
	return judged.sound ? {} : Object.fromEntries(judged.problems.map(({ path, reason }) => [path.join("."), reason]));
}

const sound = { text: "x", level: "low" };

test("a sound value passes", () => {
	expect(judge(schema, sound)).toEqual({ sound: true, data: sound });
});

test.each<[string, object, Record<string, string>]>([
	["a missing text", { level: "low" }, { text: "is missing" }],
	["a missing choice", { text: "x" }, { level: 'is missing; allowed values: "low", "high"' }],
	[
		"a null",
		{ ...sound, text: null },
		{ text: "has no value (null); write one, or leave the key out where it may be" },
	],
	["a number for a text", { ...sound, text: 1.1 }, { text: "is the number 1.1, not a text; put it in quotes" }],
	["a boolean for a text", { ...sound, text: false }, { text: "is false, not a text; put it in quotes" }],
	["a list for a text", { ...sound, text: [] }, { text: "is a list; a text is wanted" }],
	["an empty text", { ...sound, text: "" }, { text: "is empty" }],
	["a text for a number", { ...sound, cpu: "2" }, { cpu: "is a text; a number is wanted, without quotes" }],
	["a text for a boolean", { ...sound, open: "true" }, { open: "is a text; true or false is wanted, without quotes" }],
	["a text for a list", { ...sound, few: "a" }, { few: "is a text; a list is wanted" }],
	["a text for a mapping", { ...sound, inner: "a" }, { inner: "is a text; a mapping is wanted" }],
	["an infinite number", { ...sound, cpu: Number.POSITIVE_INFINITY }, { cpu: "is not a finite number" }],
	["a fraction", { ...sound, count: 1.5 }, { count: "is 1.5; a whole number is wanted" }],
	["an odd number", { ...sound, count: 3 }, { count: "is 3; it must be a multiple of 2" }],
	["too little", { ...sound, cpu: -1 }, { cpu: "is -1; it must be more than 0" }],
	["too much", { ...sound, cpu: 5 }, { cpu: "is 5; it must be at most 4" }],
	["an empty list", { ...sound, few: [] }, { few: "is empty" }],
	["a long list", { ...sound, few: ["a", "b", "c"] }, { few: "must have at most 2 entries" }],
	["another choice", { ...sound, level: "no" }, { level: 'is "no"; allowed values: "low", "high"' }],
	["a boolean for a choice", { ...sound, level: false }, { level: 'is false; allowed values: "low", "high"' }],
	[
		"none of several kinds",
		{ ...sound, config: { a: [] } },
		{ "config.a": "is a list; it must be a text or a number" },
	],
	["a mistyped key", { ...sound, tetx: 1 }, { tetx: 'is not a known key; did you mean "text"?' }],
	[
		"a key in the other spelling",
		{ ...sound, inner: { memory_mb: 1, memoryMb: 1 } },
		{ "inner.memoryMb": 'is not a known key; did you mean "memory_mb"?' },
	],
	[
		"a strange key",
		{ ...sound, inner: { memory_mb: 1, whatever: 1 } },
		{ "inner.whatever": "is not a known key; known here: memory_mb" },
	],
	["the wrong thing altogether", [], { "": "is a list; a mapping is wanted" }],
])("%s", (_, value, expected) => {
	expect(problems(value)).toEqual(expected);
});

test("all problems are told at once", () => {
	expect(Object.keys(problems({ text: 1, level: "x", cpu: -1, tetx: 1, inner: {} }))).toEqual([
		"text",
		"level",
		"cpu",
		"inner.memory_mb",
		"tetx",
	]);
});

test("a long word that was to be one of a few is cut", () => {
	expect(problems({ ...sound, level: "x".repeat(500) }).level?.length).toBeLessThan(100);
});

test("a free text is not repeated, wherever it stands", () => {
	const secret = "hunter2-hunter2";
	const told = JSON.stringify(
		problems({
			text: [secret],
			few: secret,
			cpu: secret,
			count: secret,
			open: secret,
			inner: { secret },
			tetx: secret,
			config: { a: [secret] },
		}),
	);
	expect(told).not.toContain(secret);
});

test.each([
	["netwrok", "network"],
	["defualt", "default"],
	["xyz", undefined],
	["", undefined],
])("%j was meant to be %s", (word, meant) => {
	expect(nearest(word, ["network", "default", "id"])).toBe(meant);
});

test("where two words are as near, none is suggested", () => {
	expect(nearest("cat", ["bat", "hat"])).toBeUndefined();
});
