import fc from "fast-check";
import { plainJson } from "../../provider/dispatch/plain-json";

describe("plainJson, the gate of everything that a state holds", () => {
	it("leaves plain JSON as it is", () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => expect(plainJson(value)).toEqual(JSON.parse(JSON.stringify(value)))),
		);
	});

	it("gives something that JSON keeps, or an error with the path, whatever comes", () => {
		const anything = fc.anything({
			withBigInt: true,
			withDate: true,
			withMap: true,
			withSet: true,
			withTypedArray: true,
		});
		fc.assert(
			fc.property(anything, (value) => {
				let plain: unknown;
				try {
					plain = plainJson({ value });
				} catch (thrown) {
					expect(String((thrown as Error).message)).toMatch(/^outputs\.value.* is .*, which a state cannot hold\.$/s);
					return;
				}
				expect(JSON.parse(JSON.stringify(plain))).toEqual(plain);
			}),
		);
	});

	it.each([
		["a date becomes its ISO text", new Date(0), "1970-01-01T00:00:00.000Z"],
		["a map becomes an object", new Map([["a", 1]]), { a: 1 }],
		["a set becomes a list", new Set([1, 2]), [1, 2]],
		["an absent key goes missing", { a: undefined, b: 1 }, { b: 1 }],
		["an absent member becomes null", [1, undefined], [1, null]],
	])("%s", (_what, value, plain) => {
		expect(plainJson(value)).toEqual(plain);
	});

	it.each([
		["NaN", { a: [Number.NaN] }, "outputs.a[0]"],
		["an invalid date", { when: new Date(Number.NaN) }, "outputs.when"],
		["a big integer", { n: 1n }, "outputs.n"],
		["a buffer", { b: Buffer.from("x") }, "outputs.b"],
		["a function", { f: () => 1 }, "outputs.f"],
		["an instance of a class", { c: new Error("x") }, "outputs.c"],
	])("refuses %s and names where it is", (_what, value, path) => {
		expect(() => plainJson(value)).toThrow(path);
	});

	it("refuses a loop", () => {
		const loop: Record<string, unknown> = {};
		loop["again"] = loop;
		expect(() => plainJson(loop)).toThrow("outputs.again is a loop");
	});
});
