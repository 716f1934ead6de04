import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Desk } from "./support/desk";

interface Judged {
	readonly documents: readonly { name: string; valid: boolean; problems: readonly { line: number; path: string }[] }[];
}

describe("validate and explain", () => {
	const desk = new Desk();
	const write = (name: string, text: string) => writeFileSync(join(desk.folder, name), text);
	beforeAll(() => {
		write(
			"profile.good.yaml",
			'id: profile.good\nversion: "1"\nextension: ext.bwrap\nisolation: { level: process }\nttl: { default: 2h, max: 8h }\n',
		);
		write(
			"profile.bad.yaml",
			'id: profile.bad\nversion: "1"\nextension: ext.bwrap\nisolation: { level: process }\nttl: { defautl: 2h }\n',
		);
		mkdirSync(join(desk.folder, "mine"));
		write(
			"mine/ext.mine.yaml",
			'id: ext.mine\ntitle: Mine\nhandler: "./nowhere:Mine"\ncapabilities: { isolation_levels: [process], pricing_model: self-hosted }\n',
		);
		write(
			"mine/ext.typo.yaml",
			'id: ext.typo\ntitle: Typo\nhandler: "./x:X"\ncapabilities: { isolation_levels: [proces], pricing_model: self-hosted }\n',
		);
	});
	afterAll(() => desk.dispose());

	it("validate judges all that the search path holds", async () => {
		const { code, stdout } = await desk.run(["validate"]);
		expect([code, stdout]).toEqual([
			0,
			[
				"ok       extension ext.bwrap",
				"ok       extension ext.paper",
				"ok       profile profile.agent-dev",
				"ok       profile profile.bwrap-local",
				"ok       profile profile.paper\n",
			].join("\n"),
		]);
	});

	it("validate names file, line and key of each problem; status 1", async () => {
		const { code, stdout } = await desk.run(["validate", "./profile.good.yaml", "profile.bad.yaml", "bwrap-local"]);
		expect(code).toBe(1);
		expect(stdout).toBe(
			'ok       profile ./profile.good.yaml\nproblem  profile profile.bad.yaml\n         profile.bad.yaml:5: ttl.defautl: is not a known key; did you mean "default"?\nok       profile bwrap-local\n',
		);
		const { document } = await desk.json<Judged>(["validate", "profile.bad.yaml"]);
		expect(document.documents).toMatchObject([
			{ name: "profile.bad.yaml", valid: false, problems: [{ line: 5, path: "ttl.defautl" }] },
		]);
	});

	it.each([
		["mine/ext.typo.yaml", /ext\.typo\.yaml:4: capabilities\.isolation_levels\[0\]/],
		["mine/ext.mine.yaml", /the handler ".\/nowhere:Mine" was not found/],
		["mine/ext.none.yaml", /"ext\.none" is not declared/],
		["ext.papre", /did you mean "ext\.paper"\?/],
	])("validate %s: declaration and handler", async (name, message) => {
		const { code, stdout } = await desk.run(["validate", name]);
		expect([code, stdout]).toEqual([1, expect.stringMatching(message)]);
	});

	it("validate of a broken search path says so", async () => {
		const { code, stdout } = await desk.run(["validate", "-c", `extensionPath=${join(desk.folder, "mine")}`]);
		expect([code, stdout]).toEqual([
			1,
			expect.stringMatching(/^problem {2}extension all extensions\n.*ext\.typo\.yaml:4/m),
		]);
	});

	it("explain says what a profile makes", async () => {
		const { code, stdout } = await desk.run(["explain", "./profile.good.yaml", "--ttl", "3h"]);
		expect(code).toBe(0);
		expect(stdout).toMatch(/^lease: +3h \(default 2h, at most 8h\)$/m);
		expect(stdout).toMatch(/^cost: +self-hosted: 0 USD an hour, 0 USD for the lease$/m);
		expect(stdout).toMatch(/^ {2}network +enforced +own loopback only$/m);
		expect((await desk.json(["explain", "paper", "--input", "pages=3"])).document).toMatchObject({
			profile: { id: "profile.paper", version: "3" },
			extension: "ext.paper",
			binding: { ttl: "1h", inputs: { words: "none", pages: 3 } },
			quote: { pricing: "self-hosted", perHourUsd: 0 },
			problems: [],
		});
	});

	it("explain says what would be refused; status 1", async () => {
		const { code, stdout } = await desk.run(["explain", "paper", "--input", "pages=many"]);
		expect([code, stdout]).toEqual([1, expect.stringMatching(/^refused: inputs\.pages /m)]);
		expect((await desk.run(["explain", "nothing-like-it"])).code).toBe(1);
	});

	it("explain says what was capped", async () => {
		expect((await desk.run(["explain", "paper", "--ttl", "9h"])).stdout).toMatch(
			/^note: +ttl 9h is capped at the profile's max 4h$/m,
		);
	});
});
