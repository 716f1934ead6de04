import fc from "fast-check";
import { z } from "zod";
import { parseAroundUnknowns } from "../../provider/documents/parse-around-unknowns";
import { profileSchema } from "../../provider/documents/profile";

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const isUnknown = (value: unknown): boolean => value === UNKNOWN;
const around = (value: unknown) => parseAroundUnknowns(profileSchema, value, isUnknown);
const profile = { id: "profile.x", version: "1", extension: "ext.x", isolation: { level: "vm" } };

test("a value without unknowns is parsed as ever", () => {
	expect(around(profile)).toEqual({ value: profileSchema.parse(profile), problems: [] });
});

test.each<[string, object]>([
	["in place of a text with a form", { extension: UNKNOWN }],
	["in place of a choice", { isolation: { level: UNKNOWN } }],
	["in place of a mapping", { isolation: UNKNOWN }],
	["in place of a mapping with defaults", { network: UNKNOWN }],
	["in place of a number", { resources: { memory_mb: UNKNOWN } }],
	["in place of a duration", { ttl: { default: UNKNOWN, max: "4h" } }],
	["in place of the maximum", { ttl: { default: "5h", max: UNKNOWN } }],
	["in a list", { placement: { prefer: ["build-1", UNKNOWN] } }],
	["in place of a list", { placement: { prefer: UNKNOWN } }],
])("an unknown %s is no problem, stays where it stood, and defaults are filled in around it", (_, part) => {
	const { value, problems } = around({ ...profile, ...part });
	expect(problems).toEqual([]);
	expect(value).toMatchObject(part);
	expect(value.workspace).toEqual({ mode: "copy", access: "rw", scope_default: "sandbox" });
});

test("defaults are filled in beside an unknown too", () => {
	expect(around({ ...profile, ttl: { max: UNKNOWN } }).value.ttl).toEqual({ default: "1h", max: UNKNOWN });
	expect(around({ ...profile, network: { egress: UNKNOWN } }).value.network).toEqual({
		default: "deny",
		egress: UNKNOWN,
	});
});

test("what is wrong whatever the unknowns are is told, with its field", () => {
	const { problems } = around({
		...profile,
		version: 1,
		isolation: { level: UNKNOWN, lvel: "vm" },
		placement: { prefer: [UNKNOWN, "-oProxyCommand=x"] },
	});
	expect(problems).toEqual([
		{ field: "version", reason: "is the number 1, not a text; put it in quotes" },
		{ field: "isolation.lvel", reason: 'is not a known key; did you mean "level"?' },
		{ field: "placement.prefer[1]", reason: expect.stringContaining("is not a host name") },
	]);
});

test("a missing key is told where its mapping is known", () => {
	expect(around({ version: UNKNOWN, extension: "ext.x", isolation: {} }).problems.map(({ field }) => field)).toEqual([
		"id",
		"isolation.level",
	]);
});

test("an issue above an unknown is dropped", () => {
	const schema = z.strictObject({ pair: z.array(z.string()).max(1) });
	expect(parseAroundUnknowns(schema, { pair: ["a", UNKNOWN] }, isUnknown).problems).toEqual([]);
	expect(parseAroundUnknowns(schema, { pair: ["a", "b"] }, isUnknown).problems).toHaveLength(1);
});

test("a value that is unknown as a whole is passed through", () => {
	expect(around(UNKNOWN)).toEqual({ value: UNKNOWN, problems: [] });
});

test("putting unknowns into a sound value never makes a problem", () => {
	const full = profileSchema.parse({
		...profile,
		network: { egress: ["a"] },
		resources: { cpu: 1, memory_mb: 1 },
		placement: { prefer: ["a", "b"], fallback: ["c"] },
		setup: { instructions: "x", secret_refs: ["DB"] },
		metadata: { cost_class: "x" },
	});
	const places = (value: unknown, path: PropertyKey[]): PropertyKey[][] =>
		typeof value === "object" && value !== null
			? [path, ...Object.entries(value).flatMap(([key, entry]) => places(entry, [...path, key]))]
			: [path];
	const put = (value: unknown, [step, ...rest]: PropertyKey[]): unknown => {
		if (step === undefined || value === UNKNOWN) return UNKNOWN;
		if (Array.isArray(value)) return value.map((entry, index) => (String(index) === step ? put(entry, rest) : entry));
		const entries = value as Record<PropertyKey, unknown>;
		return { ...entries, [step]: put(entries[step], rest) };
	};
	fc.assert(
		fc.property(fc.subarray(places(full, []), { minLength: 1 }), (paths) => {
			const value = paths.reduce<unknown>(put, full);
			expect(around(value)).toEqual({ value, problems: [] });
		}),
	);
});
