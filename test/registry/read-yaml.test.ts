import fc from "fast-check";
import { stringify } from "yaml";
import { readYaml } from "../../provider/registry/read-yaml";

const problems = (text: string): string[] =>
	readYaml(text).problems.map(({ line, path, reason }) => `${line} ${path.join(".")}: ${reason}`);

test("plain values are read as YAML 1.2 means them", () => {
	const text =
		'a: [1, 0.5, 0x10, 0o10, true, ~, "007", no, 1h, 2001:db8::10]\nb:\n  c: |\n    line\n  d: &x {e: f}\ng: *x\n';
	expect(readYaml(text)).toMatchObject({
		readable: true,
		problems: [],
		value: {
			a: [1, 0.5, 16, 8, true, null, "007", "no", "1h", "2001:db8::10"],
			b: { c: "line\n", d: { e: "f" } },
			g: { e: "f" },
		},
	});
});

test("what the library writes is read as the same values", () => {
	const { tree } = fc.letrec((tie) => ({
		tree: fc.oneof(
			{ depthSize: "small" },
			fc.string(),
			fc.boolean(),
			fc.constant(null),
			fc.integer(),
			fc.array(tie("tree")),
			fc.dictionary(fc.string(), tie("tree")),
		),
	}));
	fc.assert(
		fc.property(tree, (value) => {
			const reading = readYaml(stringify(value));
			expect(reading.problems).toEqual([]);
			expect(JSON.stringify(reading.value)).toBe(JSON.stringify(value));
		}),
	);
});

test("any text is read or refused, never thrown at", () => {
	const yamlish = fc.stringMatching(/^[a-c:\-?&*!|>'"{}[\],#%\n\t 01.]{0,60}$/);
	fc.assert(
		fc.property(yamlish, (text) => {
			const { readable, problems } = readYaml(text);
			expect(readable || problems.length > 0).toBe(true);
			for (const { line } of problems) expect(line).toBeGreaterThanOrEqual(1);
		}),
		{ numRuns: 2000 },
	);
});

test.each<[string, string, string[]]>([
	[
		"a duplicate key, also deep inside",
		"a:\n  b: 1\n  c: 2\n  b: 3\n",
		["4 a.b: stands twice in the same mapping; keep one"],
	],
	["a duplicate key in other quotes", "a: 1\n'a': 2\n", ["2 a: stands twice in the same mapping; keep one"]],
	[
		"a number that loses digits",
		"a: [9007199254740993]\n",
		["1 a.0: is 9007199254740993, a number too large to be kept exactly; put it in quotes if it is a text"],
	],
	[
		"a leading zero",
		"a: 0755\n",
		[
			"1 a: is 0755, which YAML reads as the number 755; put it in quotes if it is a text, else leave out the leading zero",
		],
	],
	[
		"an alias without an anchor",
		"a: *b\nb: &b 1\n",
		["1 a: refers to *b, but no anchor of that name stands before it"],
	],
	["an alias inside its own anchor", "a: &a [1, {b: *a}]\n", ["1 a.1.b: refers to itself, through *a"]],
	["a local tag", "a: !mine x\n", ["1 : uses the tag !mine; documents hold plain values only"]],
	["a tag of YAML 1.1", "a: !!binary aGk=\n", ["1 : uses the tag !!binary; documents hold plain values only"]],
	[
		"YAML 1.1",
		"%YAML 1.1\n---\na: no\n",
		["1 : asks for YAML 1.1; documents are YAML 1.2, so leave the %YAML line out"],
	],
	[
		"a second document",
		"a: 1\n---\nb: 1\n",
		["2 : is followed by a second one (---); write each into a file of its own"],
	],
	["a mapping as a key", "? {a: 1}\n: 2\n", ["1 : is not YAML: With stringKeys, all keys must be strings"]],
])("%s is refused", (_, text, expected) => {
	expect(problems(text)).toEqual(expected);
});

test("a merge key is a key like any other", () => {
	expect(readYaml("a: &a {b: 1}\nc: {<<: *a}\n").value).toEqual({ a: { b: 1 }, c: { "<<": { b: 1 } } });
});

test("what the syntax trips over is not repeated: it may be a secret", () => {
	for (const text of [
		'a: "b" hunter2\n',
		"a: b: hunter2\n",
		"a: |hunter2\n  x\n",
		"a: [b\nhunter2: }\n",
		"- a\nhunter2\n",
		"a: @hunter2\n",
	]) {
		expect(readYaml(text).readable).toBe(false);
		expect(problems(text).join("\n")).not.toContain("hunter2");
	}
});

test.each([
	["lists in lists", `a: ${"[".repeat(20_000)}`],
	["mappings in mappings", `a: ${"{a: ".repeat(10_000)}`],
	["lists on one line", `${"- ".repeat(30_000)}x`],
	["keys of keys", `${"? ".repeat(30_000)}x`],
	["indented mappings", Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
	[
		"aliases that each go one deeper",
		Array.from({ length: 2000 }, (_, index) => `k${index}: &a${index} [${index === 0 ? "" : `*a${index - 1}`}]`).join(
			"\n",
		),
	],
])("%s, nested without end, are refused at once", (_, text) => {
	const start = process.cpuUsage();
	const told = problems(text).join("\n");
	expect(process.cpuUsage(start).user).toBeLessThan(1_000_000);
	expect(told).toMatch(/nested more than 64 levels|holds more than 5000 values, what its aliases/);
	expect(told).not.toMatch(/stack/i);
});

test("60 levels are still read", () => {
	expect(problems(`${"[".repeat(60)}${"]".repeat(60)}`)).toEqual([]);
	expect(problems(`${"- ".repeat(60)}x`)).toEqual([]);
	expect(problems(`${"{a: ".repeat(60)}x${"}".repeat(60)}`)).toEqual([]);
});

test("a line is found for keys, entries, values behind aliases, and what is missing", () => {
	const { lineOf } = readYaml("a: &x\n  b: 1\nc:\n  - d\n  - *x\n");
	expect([["a"], ["a", "b"], ["a", "nope"], ["c", 0], ["c", 1], ["c", 1, "b"], ["nope"], []].map(lineOf)).toEqual([
		1, 2, 1, 4, 5, 2, 1, 1,
	]);
});
