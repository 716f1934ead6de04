/**
 * The arrows of the architecture (docs/architecture.md), as rules:
 *
 *   components → resources → shim ⇢ (by name, at run time) dispatch → lifecycle → contract ← extensions
 *
 * `test/lint/arrows.test.ts` breaks each of them once and sees it caught.
 */

/** The folders of provider/, from the top; each may import what stands below it, or beside it. */
const LAYERS = [
	["resources", "dispatch"],
	["lifecycle", "client"],
	["registry"],
	["routing", "placement", "credits", "conformance"],
	["contract"],
	["workspace", "transport", "records", "identity", "lease", "credentials", "execution", "snapshots", "documents"],
	["errors"],
];

/** What an extension may know of provider/. */
const OPEN_TO_EXTENSIONS = [
	"contract",
	"transport",
	"workspace",
	"records",
	"identity",
	"errors",
	"documents",
	"lease",
	"credentials",
	"execution",
	"snapshots",
];

/** The modules somebody outside enters by; nothing in the repository need import them. */
const ENTRIES = [
	"^components/index[.]ts$",
	"^provider/(dispatch|contract|conformance)/index[.]ts$",
	"^provider/conformance/worker[.]ts$",
	"^extensions/[^/]+/handler[.]ts$",
	"^cli/[^/]+[.]ts$",
	"^(test|bench|examples|scripts)/",
	"[.]d[.]ts$",
];

const PULUMI = "(^|/)@pulumi/";
const PRODUCT = "^(components|provider|extensions|cli)/";
const folders = (names) => `^provider/(${names.join("|")})/`;

const downwards = LAYERS.slice(1).map((layer, index) => ({
	name: `downwards-${layer[0]}`,
	comment:
		`provider/{${layer.join(",")}} must not know what is built on it, or the layers above could not be ` +
		"changed or tested alone: move the shared piece down, or hand it in as a parameter.",
	severity: "error",
	from: { path: folders(layer) },
	to: { path: folders(LAYERS.slice(0, index + 1).flat()) },
}));

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
	forbidden: [
		{
			name: "components-plan-only",
			comment:
				"A component runs in the user's program, in preview too: it names what is wanted and touches no backend. " +
				"What works on a backend is loaded by the provider process, by name.",
			severity: "error",
			from: { path: "^components/" },
			to: { path: ["^(extensions|cli)/", folders(["transport", "lifecycle", "dispatch"])] },
		},
		{
			name: "resources-are-thin",
			comment:
				"A resource class names args and outputs, in the user's program: only the shim, the documents and " +
				"@pulumi/pulumi may stand there.",
			severity: "error",
			from: { path: "^provider/resources/" },
			to: { pathNot: [folders(["resources", "shim", "documents", "contract"]), PULUMI] },
		},
		{
			name: "resources-take-types-of-the-contract",
			comment: "The contract's code belongs to the provider process; a resource class needs its types only.",
			severity: "error",
			from: { path: "^provider/resources/" },
			to: { path: folders(["contract"]), dependencyTypesNot: ["type-only"] },
		},
		{
			name: "resources-are-for-components",
			comment: "A resource class in the provider process would drag the program's side into it.",
			severity: "error",
			from: { pathNot: ["^components/", "^provider/resources/", "^(test|bench)/"] },
			to: { path: "^provider/resources/" },
		},
		{
			name: "shim-imports-nothing",
			comment: "The shim is text that stands in every state and runs there a year from now: nothing here goes with it.",
			severity: "error",
			from: { path: "^provider/shim/" },
			to: {},
		},
		{
			name: "extensions-know-no-other",
			comment: "One backend, one folder: what two extensions share belongs into provider/.",
			severity: "error",
			from: { path: "^extensions/([^/]+)/" },
			to: { path: "^extensions/", pathNot: "^extensions/$1/" },
		},
		{
			name: "extensions-see-the-contract",
			comment:
				"An extension is written against the contract and its tools, so that a third party can write one outside this " +
				"repository, and so that lifecycle and routing can change without any backend.",
			severity: "error",
			from: { path: "^extensions/" },
			to: { path: "^(components|cli|provider)/", pathNot: folders(OPEN_TO_EXTENSIONS) },
		},
		{
			name: "extensions-load-clients-lazily",
			comment:
				"A vendor's SDK is an optional peer: loaded at the top of a module it would break, or slow, whoever uses " +
				"another backend. Use await import() in the method that needs it.",
			severity: "error",
			from: { path: "^extensions/" },
			to: { dependencyTypes: ["npm-peer", "npm-optional"], dependencyTypesNot: ["type-only", "dynamic-import"] },
		},
		{
			name: "provider-knows-no-backend",
			comment:
				"A new backend is one new folder and one profile. If provider/ has to know it, the contract is wrong: mend the " +
				"contract.",
			severity: "error",
			from: { path: "^provider/" },
			to: { path: "^(components|extensions|cli)/" },
		},
		{
			name: "pulumi-at-the-rim",
			comment:
				"Only what faces Pulumi imports its SDK; lifecycle, concepts and extensions stay usable from a real plugin and " +
				"testable without an engine.",
			severity: "error",
			from: { path: PRODUCT, pathNot: ["^(components|cli)/", folders(["resources", "dispatch"])] },
			to: { path: PULUMI },
		},
		{
			name: "cli-over-provider",
			comment: "The command is thin: what it does stands in provider/ and reaches a backend through the registry.",
			severity: "error",
			from: { path: "^cli/" },
			to: { path: "^(components|extensions)/" },
		},
		{
			name: "product-without-tests",
			comment: "Tests, benches and examples are not in the published package.",
			severity: "error",
			from: { path: PRODUCT },
			to: { path: "^(test|bench|examples|scripts)/" },
		},
		{
			name: "product-by-path",
			comment: "The package's own code imported by its name is a second copy of it: the one in dist/.",
			severity: "error",
			from: { path: PRODUCT },
			to: { path: "^dist/" },
		},
		{
			name: "product-dependencies-declared",
			comment: "A user's install has no devDependencies, nor what only happens to lie in node_modules.",
			severity: "error",
			from: { path: PRODUCT },
			to: {
				dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
				dependencyTypesNot: ["npm", "npm-peer", "npm-optional", "type-only"],
			},
		},
		{
			name: "resolvable",
			comment: "The import leads nowhere.",
			severity: "error",
			from: { path: PRODUCT },
			to: { couldNotResolve: true },
		},
		...downwards,
		{
			name: "concepts-have-a-place",
			comment: "A folder of provider/ that no layer names: say in .dependency-cruiser.cjs where it stands.",
			severity: "error",
			from: { path: "^provider/([^/]+)/", pathNot: folders(["shim", ...LAYERS.flat()]) },
			to: { path: "^provider/", pathNot: "^provider/$1/" },
		},
		{
			name: "no-cycle",
			comment: "Modules in a circle can only be understood, tested and loaded together.",
			severity: "error",
			from: {},
			to: { circular: true },
		},
		{
			name: "no-folder-cycle",
			comment: "Two concepts that need each other are one concept, or lack a third one below them.",
			severity: "error",
			scope: "folder",
			from: { path: "^provider/[^/]+$" },
			to: { circular: true, path: "^provider/[^/]+$" },
		},
		{
			name: "no-orphan",
			comment: "Nothing imports it and it imports nothing: either it is an entry (ENTRIES) or it is left over.",
			severity: "error",
			from: { orphan: true, path: PRODUCT, pathNot: ENTRIES },
			to: {},
		},
	],
	options: {
		doNotFollow: { path: ["node_modules", "^dist/"] },
		// Programs and repositories as users have them: data of the tests.
		exclude: { path: "^test/cases/" },
		// Imports of types are arrows too.
		tsPreCompilationDeps: true,
		combinedDependencies: false,
		enhancedResolveOptions: {
			exportsFields: ["exports"],
			conditionNames: ["import", "require", "node", "default", "types"],
		},
		reporterOptions: { text: { highlightFocused: true } },
	},
};
