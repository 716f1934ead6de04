import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TestStack } from "./support/test-stack";

/** A backend in one file: its sandboxes are JSON files in the folder of the program. */
const HANDLER = `
const { existsSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const { SandboxExtension, SandboxerError, z } = require("pulumi-sandboxer/extension");
exports.Paper = class Paper extends SandboxExtension {
	inputsSchema = z.strictObject({ words: z.string().default("none") });
	async provision(profile, inputs, host, { sandboxId, ttlSeconds }) {
		writeFileSync(sandboxId + ".paper", JSON.stringify({ words: inputs.words, readyAt: this.host.now(), ttlSeconds, color: this.host.config.color }));
		return { handle: { extension: "ext.note-paper", sandbox_id: sandboxId, host, generation: 1 }, adopted: false };
	}
	async waitReady({ sandbox_id, host }) {
		if (!existsSync(sandbox_id + ".paper")) throw new SandboxerError({ code: "gone", message: "Paper " + sandbox_id + " is not there." });
		const { readyAt, ttlSeconds } = JSON.parse(readFileSync(sandbox_id + ".paper", "utf8"));
		const iso = (ms) => new Date(ms).toISOString();
		return { reachability: { host }, workspaceDir: ".", lease: { readyAt: iso(readyAt), expiresAt: iso(readyAt + ttlSeconds * 1000) }, controls: {}, credentials: { token: "canary-token-of-paper" } };
	}
	async teardown({ sandbox_id }) {
		const there = existsSync(sandbox_id + ".paper");
		rmSync(sandbox_id + ".paper", { force: true });
		return { found: there ? [sandbox_id] : [], removed: there ? [sandbox_id] : [], remains: [] };
	}
};
`;

const DECLARATION = `id: ext.note-paper
title: Note paper
handler: "./handler:Paper"
capabilities: { isolation_levels: [process], pricing_model: self-hosted }
config: { color: white }
`;

const PROGRAM = `
const box = new Sandbox("box", { profile: { extension: "ext.note-paper", isolation: { level: "process" } }, inputs: { words: "hello" }, ttl: "1h" });
exports.box = { id: box.sandboxId, extension: box.extension, workspaceDir: box.workspaceDir };
exports.credentials = box.credentials;
exports.known = sandboxer.getExtensions().map(({ id }) => id);
`;

describe("a third party's extension: a YAML file and a handler, no line of ours", () => {
	let stack: TestStack;

	beforeAll(async () => {
		stack = new TestStack(PROGRAM, {
			config: { "sandboxer:extensionPath": "./backends", "sandboxer:note-paper": '{"color":"red"}' },
		});
		stack.write("backends/note-paper/ext.note-paper.yaml", DECLARATION);
		stack.write("backends/note-paper/handler.js", HANDLER);
		await stack.init();
		await stack.up();
	});

	afterAll(() => stack.dispose());

	it("has a type of its own, by its id", async () => {
		expect((await stack.sandboxResources()).map(({ type }) => type)).toEqual([
			"pulumi-nodejs:dynamic/sandboxer:NotePaper",
		]);
		expect(await stack.outputs()).toMatchObject({
			box: { extension: "ext.note-paper" },
			known: ["ext.bwrap", "ext.note-paper"],
		});
	});

	it("gets its settings, the stack's over its own", async () => {
		const { box } = await stack.outputs<{ box: { id: string } }>();
		expect(JSON.parse(readFileSync(join(stack.folder, `${box.id}.paper`), "utf8"))).toMatchObject({
			words: "hello",
			color: "red",
		});
	});

	it("keeps its credentials secret, in the outputs and in the state", async () => {
		const shown = await stack.ok(["stack", "output", "--json"]);
		expect(shown.stdout).toMatch(/"credentials": "\[secret\]"/);
		expect((await stack.exported()).text).not.toContain("canary-token-of-paper");
		expect((await stack.ok(["stack", "output", "--json", "--show-secrets"])).stdout).toContain("canary-token-of-paper");
	});

	it("replaces for another ttl, since it cannot change one, and says unchanged otherwise", async () => {
		expect((await stack.up()).text).toMatch(/3 unchanged/);
		stack.program(PROGRAM.replace('"1h"', '"2h"'));
		expect((await stack.up()).text).toMatch(/1 replaced/);
	});

	it("is gone after a refresh that proves it, and comes again", async () => {
		const { box } = await stack.outputs<{ box: { id: string } }>();
		require("node:fs").rmSync(join(stack.folder, `${box.id}.paper`));
		expect((await stack.refresh()).text).toMatch(/is not there/);
		expect(await stack.sandboxResources()).toEqual([]);
		expect((await stack.up()).text).toMatch(/1 created/);
	});

	it("a declaration with a mistake is refused with file, line and key", async () => {
		stack.write("backends/note-paper/ext.note-paper.yaml", DECLARATION.replace("[process]", "[proces]"));
		const previewed = await stack.run(["preview"]);
		stack.write("backends/note-paper/ext.note-paper.yaml", DECLARATION);
		expect(previewed.code).not.toBe(0);
		expect(previewed.text).toMatch(/ext\.note-paper\.yaml:4: capabilities\.isolation_levels\[0\].*process.*container/s);
	});
});
