import { readFileSync } from "node:fs";
import { join } from "node:path";

/** As it was built: that is what stands in a state. */
const { shim } = require("../../dist/provider/shim") as typeof import("../../provider/shim");

/** What stands in every state: a change of it is an update of every sandbox of every user. */
describe("the provider text in a state", () => {
	it("is the pinned one", () => {
		expect(shim("ext.bwrap")).toBe(readFileSync(join(__dirname, "ext.bwrap.golden.txt"), "utf8"));
	});

	it("differs between extensions by the id alone", () => {
		expect(shim("ext.my-backend").replaceAll("ext.my-backend", "ext.bwrap")).toBe(shim("ext.bwrap"));
	});

	it("is small, and holds no path", () => {
		const text = shim("ext.bwrap");
		expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1400);
		expect(text).not.toContain(join(__dirname, "../.."));
		expect(text).not.toMatch(/["'`](?:\/|[A-Z]:\\)[^"'`]*node_modules/);
	});

	it("has all its methods closed until it is configured", () => {
		const module = { exports: {} as { handler?: () => Record<string, () => unknown> } };
		new Function("exports", "require", shim("ext.bwrap"))(module.exports, require);
		const provider = module.exports.handler?.() ?? {};
		for (const method of ["check", "diff", "create", "read", "update", "delete"]) {
			expect(() => provider[method]?.()).toThrow(/could not be loaded/);
		}
	});
});
