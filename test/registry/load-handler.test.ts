import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ExtensionHost, SandboxExtension } from "../../provider/contract";
import { hasCode } from "../../provider/errors";
import { findExtension, type LoadedExtension, loadHandler, searchFrom } from "../../provider/registry";
import { folderOf } from "./folder-of";
import { refusalOf } from "./refusal-of";

jest.mock("pulumi-sandboxer/extension", () => jest.requireActual("../../provider/contract"), { virtual: true });

const FIXTURES = join(__dirname, "../fixtures/extensions");
const METHODS = "async provision() {} async waitReady() {} async teardown() {}";
/** As another copy of the package would make it. */
const COPY = `class SandboxExtension { constructor(host) { this.host = host; } estimateCost() { throw new Error(); } }\n`;

function hostOf(declaration: LoadedExtension, environment: Readonly<Record<string, string>> = {}): ExtensionHost {
	return {
		declaration,
		config: {},
		environment: (name) => environment[name],
		credentials: { route: () => undefined, value: () => undefined },
		now: () => 0,
	};
}

function load(
	files: Readonly<Record<string, string>>,
	{ handler = "./handler:X", pricing = "self-hosted" } = {},
): SandboxExtension {
	const cwd = folderOf({
		"ext.x.yaml": `id: ext.x\ntitle: X\nhandler: "${handler}"\ncapabilities: { isolation_levels: [vm], pricing_model: ${pricing} }\n`,
		...files,
	});
	const declaration = findExtension("ext.x", searchFrom({ cwd, extensionPath: "." }));
	return loadHandler(declaration, hostOf(declaration), cwd);
}

test("a handler beside its YAML is made, with its host", () => {
	expect(
		load({ "handler.js": `exports.X = class { constructor(host) { this.host = host; } ${METHODS} };` }),
	).toMatchObject({ host: { declaration: { id: "ext.x" } } });
});

test("a handler that is a package is found from the program's folder", () => {
	const files = {
		"node_modules/my-backend/index.js": `exports.X = class { ${METHODS} };`,
		"node_modules/my-backend/package.json": '{"name": "my-backend"}',
	};
	expect(load(files, { handler: "my-backend:X" })).toBeInstanceOf(Object);
});

test("a handler made with another copy of the package is taken", () => {
	const extension = load({ "handler.js": `${COPY}exports.X = class X extends SandboxExtension { ${METHODS} };` });
	expect(extension).not.toBeInstanceOf(SandboxExtension);
});

test.each<[string, Record<string, string>, { handler?: string; pricing?: string }, RegExp]>([
	["a module that is not there", {}, {}, /was not found; tried .*\/handler, also with \.js.* It is built JavaScript/],
	[
		"a package that is not there",
		{},
		{ handler: "my-backend:X" },
		/tried the package "my-backend", from .* upwards.* npm install my-backend/,
	],
	[
		"a class that is not there",
		{ "handler.js": "exports.Y = 1; exports.Z = 2;" },
		{},
		/has no export "X"; its exports: Y, Z\./,
	],
	[
		"a module that exports nothing",
		{ "handler.js": "module.exports = undefined;" },
		{},
		/has no export "X"; its exports: none\./,
	],
	["an export that is no class", { "handler.js": "exports.X = {};" }, {}, /exports "X", but it is not a class/],
	[
		"a class without the methods",
		{ "handler.js": "exports.X = class { async provision() {} };" },
		{},
		/has no waitReady, teardown.* extends SandboxExtension of "pulumi-sandboxer\/extension"; another copy of that package will do/,
	],
	[
		"a module that throws",
		{ "handler.js": 'throw new Error("boom\\nmore");' },
		{},
		/could not be loaded from .*handler\.js: boom\./,
	],
	[
		"a class that throws",
		{ "handler.js": 'exports.X = class { constructor() { throw new Error("boom"); } };' },
		{},
		/could not be made: boom/,
	],
	[
		"a metered one without a cost",
		{ "handler.js": `${COPY}exports.X = class X extends SandboxExtension { ${METHODS} };` },
		{ pricing: "metered" },
		/no estimateCost of its own, while capabilities\.pricing_model is "metered"/,
	],
	[
		"a metered one without a base class",
		{ "handler.js": `exports.X = class X { ${METHODS} };` },
		{ pricing: "metered" },
		/no estimateCost of its own/,
	],
])("%s is refused, naming the YAML and the way out", (_, files, options, reason) => {
	const { text } = refusalOf(() => load(files, options));
	expect(text).toMatch(/^ext\.x \(\/.*\/ext\.x\.yaml\): the handler "/);
	expect(text).toMatch(reason);
});

test("a metered handler that estimates its cost is taken, also through a class in between", () => {
	const handler = `${COPY}class Y extends SandboxExtension { ${METHODS} estimateCost() {} }\nexports.X = class X extends Y {};`;
	expect(load({ "handler.js": handler }, { pricing: "metered" })).toBeInstanceOf(Object);
});

test("a client that is not installed is a lack of this machine, not of the declaration", () => {
	let thrown: unknown;
	try {
		load({ "handler.js": 'require("vendor-sdk-that-nobody-has");' });
	} catch (error) {
		thrown = error;
	}
	expect(hasCode(thrown, "preflight")).toBe(true);
	expect((thrown as Error).message).toContain("vendor-sdk-that-nobody-has");
});

describe("the extensions that tests share", () => {
	const request = {
		sandboxId: "demo-1",
		owner: { scope: "s", project: "p", stack: "t", urn: "u" },
		digest: "d",
		ttlSeconds: 60,
		labels: {},
		signal: new AbortController().signal,
		timeoutSeconds: 1,
		progress: () => {},
	};
	const profile = { id: "profile.x" } as Parameters<SandboxExtension["provision"]>[0];
	const made = (id: string, environment: Readonly<Record<string, string>>) => {
		const declaration = findExtension(id, searchFrom({ cwd: __dirname, extensionPath: FIXTURES }));
		return loadHandler(declaration, hostOf(declaration, environment));
	};

	test("compose-ssh records what it is asked for", async () => {
		const recording = join(folderOf({}), "calls");
		const extension = made("ext.compose-ssh", { RECORDING: recording });
		expect(extension).toBeInstanceOf(SandboxExtension);
		const { handle } = await extension.provision(profile, { repo: "." }, "build-1", request);
		await extension.waitReady(handle, request);
		await extension.teardown(handle, request);
		const calls = readFileSync(recording, "utf8")
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line) as { method: string });
		expect(calls.map(({ method }) => method)).toEqual(["provision", "waitReady", "teardown"]);
		expect(calls[0]).toMatchObject({
			extension: "ext.compose-ssh",
			host: "build-1",
			inputs: { repo: "." },
			sandboxId: "demo-1",
		});
	});

	test("saas-stub keeps a sandbox for one owner, through its lives", async () => {
		const stub = made("ext.saas-stub", { STUB_DIR: folderOf({}) });
		const { handle, adopted } = await stub.provision(profile, {}, "eu", request);
		expect({ handle, adopted }).toEqual({
			handle: { sandbox_id: "demo-1", host: "eu", generation: 1 },
			adopted: false,
		});
		expect(await stub.provision(profile, {}, "eu", request)).toEqual({ handle, adopted: true });
		await expect(
			stub.provision(profile, {}, "eu", { ...request, owner: { ...request.owner, stack: "other" } }),
		).rejects.toMatchObject({ code: "conflict" });
		expect(await stub.waitReady(handle, request)).toMatchObject({ lease: { expiresAt: "1970-01-01T00:01:00.000Z" } });
		expect(await stub.locate({ owner: request.owner }, request)).toMatchObject([{ handle, alive: true }]);
		expect((await stub.teardown(handle, request)).removed).toEqual(["sandbox demo-1"]);
		expect((await stub.teardown(handle, request)).removed).toEqual([]);
		await expect(stub.waitReady(handle, request)).rejects.toMatchObject({ code: "gone" });
		expect((await stub.provision(profile, {}, "eu", request)).handle.generation).toBe(2);
	});
});
