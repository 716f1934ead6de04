import { provider } from "../../provider/dispatch";

const SETTINGS = { config: { get: () => undefined } };

describe("a provider of a kind that this version does not know", () => {
	const { read, diff, delete: remove } = provider("rocket", SETTINGS);

	it.each([
		["read", () => read("id", {})],
		["diff", () => diff("id", {}, {})],
		["delete", () => remove("id", {})],
	])("%s says so, in the engine's terms: one message, no stack", async (_name, call) => {
		const thrown = (await call().catch((error: unknown) => error)) as Error;
		expect(thrown.message).toMatch(/does not know resources of the kind "rocket"\. Install the version/);
		expect(String(thrown)).toBe("pulumi-sandboxer");
	});
});
