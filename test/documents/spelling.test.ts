import { output } from "@pulumi/pulumi";
import fc from "fast-check";
import { isPlainObject, toDocumentKey, toDocumentKeys } from "../../provider/documents/spelling";

const snakeCase = fc
	.array(fc.stringMatching(/^[a-z][a-z0-9]{1,8}$/), { minLength: 1, maxLength: 5 })
	.map((words) => words.join("_"));
const camelCase = (key: string): string => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

test.each([
	["memoryMb", "memory_mb"],
	["memoryMB", "memory_mb"],
	["idleReap", "idle_reap"],
	["secretRefs", "secret_refs"],
	["maxCostPerHourUsd", "max_cost_per_hour_usd"],
	["costClass", "cost_class"],
	["scope_default", "scope_default"],
	["cpu", "cpu"],
	["DB", "DB"],
	["X-Header", "X-Header"],
])("%s is %s in a document", (written, key) => {
	expect(toDocumentKey(written)).toBe(key);
});

test("camelCase leads back to every snake_case key, and a second time changes nothing", () => {
	fc.assert(
		fc.property(snakeCase, (key) => {
			expect(toDocumentKey(camelCase(key))).toBe(key);
			expect(toDocumentKey(toDocumentKey(camelCase(key)))).toBe(key);
		}),
	);
});

test("a document keeps its values, their order and its shape, whatever it holds", () => {
	const { tree } = fc.letrec((tie) => ({
		tree: fc.oneof(
			{ depthSize: "small" },
			fc.constantFrom(null, true, 1, "textWithCapitals"),
			fc.array(tie("tree")),
			fc.dictionary(snakeCase, tie("tree")),
		),
	}));
	const camel = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(camel);
		if (typeof value !== "object" || value === null) return value;
		return Object.fromEntries(Object.entries(value).map(([key, entry]) => [camelCase(key), camel(entry)]));
	};
	fc.assert(
		fc.property(tree, (document) => {
			expect(JSON.stringify(toDocumentKeys(camel(document)))).toBe(JSON.stringify(document));
		}),
	);
});

test("a Pulumi Output, a promise and an instance of a class are passed through untouched", () => {
	class Mine {
		memoryMb = 1;
	}
	const document = { idleReap: output("1h"), setup: [Promise.resolve({ secretRefs: 1 }), new Mine()] };
	const converted = toDocumentKeys(document) as Record<string, unknown>;
	expect(converted.idle_reap).toBe(document.idleReap);
	expect(converted.setup).toEqual(document.setup);
	expect((converted.setup as unknown[])[0]).toBe(document.setup[0]);
});

test("keys without a value are left out", () => {
	expect(toDocumentKeys({ memoryMb: undefined, cpu: 1 })).toEqual({ cpu: 1 });
});

test("both spellings of one key are refused", () => {
	expect(() => toDocumentKeys({ memoryMb: 1, memory_mb: 2 })).toThrow('Both "memoryMb" and "memory_mb" are given');
});

test("a value that refers to itself is refused", () => {
	const loop: Record<string, unknown> = {};
	loop.again = loop;
	expect(() => toDocumentKeys(loop)).toThrow("refers to itself");
});

test("__proto__ as a key changes no prototype", () => {
	const converted = toDocumentKeys(JSON.parse('{"__proto__": {"polluted": true}}'));
	expect(Object.getPrototypeOf(converted)).toBe(Object.prototype);
	expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test("a plain object is one of whatever realm", () => {
	expect([{}, Object.create(null)].every(isPlainObject)).toBe(true);
	expect([[], null, "", new Map(), new Date(), () => 1].some(isPlainObject)).toBe(false);
});
