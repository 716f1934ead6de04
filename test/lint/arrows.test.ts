import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A small source tree: path → text. */
type Tree = Readonly<Record<string, string>>;

interface Cruise {
	readonly summary: {
		readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
	};
}

const ROOT = join(__dirname, "..", "..");
const CONFIG = join(ROOT, ".dependency-cruiser.cjs");

const PACKAGES: Tree = {
	"package.json": JSON.stringify({
		name: "pulumi-sandboxer",
		exports: { ".": "./dist/components/index.js" },
		dependencies: { zod: "*" },
		devDependencies: { "fast-check": "*", "vendor-sdk": "*", "@pulumi/pulumi": "*" },
		peerDependencies: { "vendor-sdk": "*", "@pulumi/pulumi": "*" },
	}),
	"dist/components/index.js": "exports.Sandbox = 1;",
	"node_modules/zod/index.js": "exports.z = 1;",
	"node_modules/fast-check/index.js": "exports.fc = 1;",
	"node_modules/vendor-sdk/index.js": "exports.Client = 1;",
	"node_modules/@pulumi/pulumi/index.js": "exports.Config = 1;",
};

/** Every arrow that the design draws, once. */
const ALLOWED: Tree = {
	...PACKAGES,
	"components/index.ts":
		'import { Config } from "@pulumi/pulumi"; import "../provider/resources/sandbox"; import "../provider/registry"; export const sandbox = Config;',
	"provider/resources/sandbox.ts":
		'import "@pulumi/pulumi"; import { shim } from "../shim"; import "../documents/profile"; import type { Handle } from "../contract"; export const resource = (handle: Handle) => shim(handle);',
	"provider/shim/index.ts": "export function shim(id: unknown) { return `exports.handler = () => ${id};`; }",
	"provider/dispatch/index.ts":
		'import { Config } from "@pulumi/pulumi"; import { up } from "../lifecycle/create"; export const provider = () => up(Config);',
	"provider/lifecycle/create.ts":
		'import "../registry"; import "../transport/ssh"; export const up = (what: unknown) => what;',
	"provider/registry/index.ts": 'import "../contract"; export const registry = 1;',
	"provider/contract/index.ts":
		'import "../documents/profile"; export type Handle = string; export const contract = 1;',
	"provider/documents/profile.ts": 'import "zod"; import "../lease/duration"; export const profile = 1;',
	"provider/lease/duration.ts": 'import "../errors"; export const duration = 1;',
	"provider/transport/ssh.ts": 'import "node:net"; import "../errors"; export const ssh = 1;',
	"provider/errors/index.ts": "export const errors = 1;",
	"extensions/cloud/handler.ts":
		'import "../../provider/contract"; import "../../provider/transport/ssh"; import "./config"; import type { Client } from "vendor-sdk"; export const open = async (): Promise<Client> => (await import("vendor-sdk")).Client;',
	"extensions/cloud/config.ts": 'import "zod"; export const config = 1;',
	"cli/main.ts": 'import "../provider/registry"; export const main = 1;',
	"test/some.test.ts":
		'import "fast-check"; import "../components"; import "../extensions/cloud/handler"; import "../provider/lifecycle/create";',
};

/** rule → the module that breaks it, and how. */
const FORBIDDEN: readonly (readonly [rule: string, from: string, text: string])[] = [
	["components-plan-only", "components/a.ts", 'import "../extensions/cloud/handler";'],
	["components-plan-only", "components/b.ts", 'import "../provider/transport/ssh";'],
	["components-plan-only", "components/c.ts", 'export type { up } from "../provider/lifecycle/create";'],
	["components-plan-only", "components/d.ts", 'export const load = () => import("../provider/dispatch");'],
	["resources-are-thin", "provider/resources/a.ts", 'import "../errors";'],
	["resources-are-thin", "provider/resources/b.ts", 'import "node:fs";'],
	[
		"resources-take-types-of-the-contract",
		"provider/resources/c.ts",
		'import { contract } from "../contract"; export { contract };',
	],
	["resources-are-for-components", "cli/a.ts", 'import "../provider/resources/sandbox";'],
	["shim-imports-nothing", "provider/shim/a.ts", 'import "node:module";'],
	["shim-imports-nothing", "provider/shim/b.ts", 'import type { Handle } from "../contract"; export type Id = Handle;'],
	["shim-imports-nothing", "provider/shim/c.ts", 'export const load = () => require("../dispatch");'],
	["extensions-know-no-other", "extensions/other/a.ts", 'import "../cloud/config";'],
	["extensions-see-the-contract", "extensions/other/b.ts", 'import "../../provider/lifecycle/create";'],
	["extensions-see-the-contract", "extensions/other/c.ts", 'import "../../components";'],
	[
		"extensions-load-clients-lazily",
		"extensions/other/d.ts",
		'import { Client } from "vendor-sdk"; export { Client };',
	],
	[
		"provider-knows-no-backend",
		"provider/lifecycle/a.ts",
		'export const load = () => import("../../extensions/cloud/handler");',
	],
	["pulumi-at-the-rim", "provider/lifecycle/b.ts", 'import "@pulumi/pulumi";'],
	[
		"pulumi-at-the-rim",
		"extensions/other/e.ts",
		'import type { Config } from "@pulumi/pulumi/index"; export type C = Config;',
	],
	["cli-over-provider", "cli/b.ts", 'import "../extensions/cloud/handler";'],
	["product-without-tests", "provider/errors/a.ts", 'import "../../test/some.test";'],
	["product-by-path", "components/e.ts", 'import "pulumi-sandboxer";'],
	["product-dependencies-declared", "provider/lease/a.ts", 'import "fast-check";'],
	["resolvable", "provider/lease/b.ts", 'import "./nowhere";'],
	["downwards-lifecycle", "provider/lifecycle/c.ts", 'import "../dispatch";'],
	["downwards-registry", "provider/registry/a.ts", 'import "../lifecycle/create";'],
	["downwards-routing", "provider/routing/a.ts", 'import "../registry";'],
	["downwards-contract", "provider/contract/a.ts", 'import "../registry";'],
	["downwards-workspace", "provider/lease/c.ts", 'import "../contract";'],
	["downwards-errors", "provider/errors/b.ts", 'import "../lease/duration";'],
	["concepts-have-a-place", "provider/helpers/a.ts", 'import "../errors";'],
	["no-cycle", "provider/identity/a.ts", 'import "./b"; export const a = 1;'],
	["no-folder-cycle", "provider/credits/a.ts", 'import "../credentials/a"; export const a = 1;'],
	["no-orphan", "provider/lease/left-over.ts", "export const nobody = 1;"],
];

/** The other halves of the circles. */
const CLOSING: Tree = {
	"provider/identity/b.ts": 'import "./a"; export const b = 1;',
	"provider/credits/b.ts": "export const b = 1;",
	"provider/credentials/a.ts": "export const a = 1;",
	"provider/credentials/b.ts": 'import "../credits/b"; export const b = 1;',
};

/** What dependency-cruiser finds in a tree with the repository's own rules, as "rule: module". */
function violations(tree: Tree): string[] {
	const folder = mkdtempSync(join(tmpdir(), "arrows-"));
	try {
		for (const [path, text] of Object.entries(tree)) {
			mkdirSync(dirname(join(folder, path)), { recursive: true });
			writeFileSync(join(folder, path), text);
		}
		const cruiser = join(ROOT, "node_modules", "dependency-cruiser", "bin", "dependency-cruiser.mjs");
		const roots = ["components", "provider", "extensions", "cli", "test"];
		const args = [cruiser, "--config", CONFIG, "--output-type", "json", ...roots];
		const { summary } = JSON.parse(execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" })) as Cruise;
		return summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

// Each run of dependency-cruiser takes about a second.
jest.setTimeout(60_000);

describe("the arrows of the architecture", () => {
	let found: string[] = [];
	beforeAll(() => {
		found = violations({
			...ALLOWED,
			...CLOSING,
			...Object.fromEntries(FORBIDDEN.map(([, from, text]) => [from, text])),
		});
	});

	it("let through what the design draws", () => {
		expect(violations(ALLOWED)).toEqual([]);
	});

	it.each(FORBIDDEN)("%s catches %s", (rule, from) => {
		expect(found).toContain(`${rule}: ${rule === "no-folder-cycle" ? dirname(from) : from}`);
	});

	it("are all broken here once, so that none is a rule in name only", () => {
		const { forbidden } = jest.requireActual<{ forbidden: { name: string }[] }>(CONFIG);
		expect([...new Set(FORBIDDEN.map(([rule]) => rule))].sort()).toEqual(forbidden.map(({ name }) => name).sort());
	});
});
