import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { TestStack } from "../support/test-stack";

const CASE = resolve(__dirname, "../../cases/01-serialized-provider");
const EXTENSIONS = resolve(__dirname, "../../fixtures/extensions");
const REPOSITORY = resolve(__dirname, "../../..");

/** What a CI job would have set. */
const CANARIES = { E2B_API_KEY: "canary-e2b-4f1d", SANDBOXER_SECRET_DB: "canary-db-9b7c" };
const HIDDEN = [...Object.values(CANARIES), "canary-key-77aa"].flatMap((canary) => [
	canary,
	Buffer.from(canary).toString("base64").replace(/=+$/, ""),
]);

const PROGRAM = `
const cfg = new pulumi.Config();
const box = new Sandbox("box", { profile: "./profile.secret-canary.yaml", inputs: { repo: "./repo" } });
if (cfg.getBoolean("malformed")) {
	new Sandbox("bad", { profile: "./profile.secret-canary.yaml", inputs: { repo: "./repo", sshKeyy: pulumi.secret("canary-key-77aa") } });
}
`;

function everything(folder: string): string {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
		.join("\n");
}

describe.each([
	["CommonJS", false],
	["ESM", true],
])("case 01: what a dynamic provider leaves behind in the state, %s program", (_kind, esm) => {
	let stack: TestStack;
	let printed = "";

	beforeAll(async () => {
		stack = new TestStack(PROGRAM, { config: { "sandboxer:extensionPath": "./extensions" }, esm });
		stack.env = { ...stack.env, ...CANARIES, STUB_DIR: stack.folder };
		cpSync(EXTENSIONS, join(stack.folder, "extensions"), { recursive: true });
		for (const file of ["profile.secret-canary.yaml", "repo"])
			cpSync(join(CASE, file), join(stack.folder, file), { recursive: true });
		await stack.init();
		printed += (await stack.up()).text;
		printed += (await stack.refresh()).text;
	});

	afterAll(() => stack.dispose());

	it("no canary, plain or base64, is in the export, the raw state, the history or anything printed", async () => {
		const all = `${printed}${(await stack.exported()).text}${everything(join(stack.folder, "state"))}`;
		expect(HIDDEN.filter((canary) => all.includes(canary))).toEqual([]);
	});

	it("no path of code, package or the program's folder is in the state", async () => {
		// The engine itself writes where a resource was made, for the resources of any package.
		const text = JSON.stringify((await stack.exported()).resources, (key, value: unknown) =>
			key === "sourcePosition" || key === "stackTrace" ? undefined : value,
		);
		expect(text).not.toContain(REPOSITORY);
		expect(text).not.toContain(stack.folder);
		expect(text).not.toMatch(/node_modules/);
	});

	it("an unknown argument is named, and neither its value nor the secret ones beside it are told", async () => {
		await stack.ok(["config", "set", "malformed", "true"]);
		const previewed = await stack.run(["preview"]);
		const up = await stack.run(["up", "--yes", "--skip-preview"]);
		for (const outcome of [previewed, up]) {
			expect(outcome.code).not.toBe(0);
			expect(outcome.text).toMatch(/sshKeyy/);
		}
		const all = `${previewed.text}${up.text}${(await stack.exported()).text}${everything(join(stack.folder, "state"))}`;
		expect(HIDDEN.filter((canary) => all.includes(canary))).toEqual([]);
		await stack.ok(["config", "rm", "malformed"]);
	});

	it("a secret that stands in no output of its own is nowhere in clear either", async () => {
		stack.program(PROGRAM.replace('{ repo: "./repo" } }', '{ repo: pulumi.secret("canary-key-77aa") } }'));
		const { text } = await stack.up();
		const all = `${text}${(await stack.exported()).text}`;
		expect(HIDDEN.filter((canary) => all.includes(canary))).toEqual([]);
	});

	it("destroy leaves nothing", async () => {
		await stack.destroy();
		expect((await stack.exported()).resources).toEqual([]);
	});
});
