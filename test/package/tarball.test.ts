import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OutsideFolder, REPOSITORY } from "./support/outside-folder";
import { filesBelow, type PackageManager, Packages, readManifest, uninstall } from "./support/packages";
import { Project } from "./support/project";

const PROGRAMS = [
	{
		language: "CommonJS (index.js)",
		main: "index.js",
		text: `const { Sandbox } = require("pulumi-sandboxer");
const box = new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });
exports.sandboxId = box.sandboxId;
`,
	},
	{
		language: "ESM (index.mjs)",
		main: "index.mjs",
		text: `import { Sandbox } from "pulumi-sandboxer";
const box = new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });
export const sandboxId = box.sandboxId;
`,
	},
] as const;

describe("the tarball of npm pack", () => {
	const outside = new OutsideFolder();
	const packages = new Packages(outside);
	/** Projects with the package installed, and where their packages are. */
	const npmProject = outside.path("npm-project");
	const pnpmProject = outside.path("pnpm-project");
	let tarball: string;
	let version: string;
	let nextPatch: string;
	let unpacked: string;
	let files: string[];

	beforeAll(async () => {
		tarball = await packages.pack();
		unpacked = await packages.unpack(tarball);
		files = filesBelow(unpacked);
		({ version } = readManifest(unpacked));
		nextPatch = await packages.nextPatch(tarball);
		await Promise.all([
			packages.install(outside.copyExample("own-project", npmProject), "npm", tarball),
			packages.install(outside.copyExample("own-project", pnpmProject), "pnpm", tarball),
		]);
	});

	afterEach(() => outside.afterTest());

	afterAll(() => outside.dispose());

	describe("holds", () => {
		it("the compiled package and its documents, and nothing else", () => {
			const documents = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"];
			const besides = files.filter((file) => !/^(dist|docs)\//.test(file));
			expect(besides).toEqual(documents.filter((file) => existsSync(join(REPOSITORY, file))));
			expect(files.filter((file) => /^dist\//.test(file) && !/\.(js|d\.ts|yaml|json|sh)$/.test(file))).toEqual([]);
			expect(files.filter((file) => /(^|\/)(test|tests|examples|node_modules|api)\/|\.test\./.test(file))).toEqual([]);
			const tops = new Set(files.filter((file) => file.startsWith("dist/")).map((file) => file.split("/")[1]));
			const sources = ["components", "provider", "extensions", "profiles", "cli", "documents.json"];
			expect([...tops].filter((top) => !sources.includes(top ?? ""))).toEqual([]);
		});

		it("every YAML, JSON and sh file that stands beside the code", () => {
			const beside = ["extensions", "profiles"].flatMap((folder) =>
				filesBelow(join(REPOSITORY, folder))
					.filter((file) => /\.(yaml|json|sh)$/.test(file))
					.map((file) => join(folder, file)),
			);
			expect(beside.filter((file) => !files.includes(join("dist", file)))).toEqual([]);
			expect(beside).toEqual(
				expect.arrayContaining([
					"extensions/bwrap/ext.bwrap.yaml",
					"extensions/bwrap/holder/supervise.sh",
					"profiles/profile.bwrap-local.yaml",
				]),
			);
		});

		it("the command, to be run as it stands", () => {
			const file = join(unpacked, "dist", "cli", "sandboxer.js");
			expect(readFileSync(file, "utf8").split("\n")[0]).toBe("#!/usr/bin/env node");
			expect(statSync(file).mode & 0o111).toBe(0o111);
		});

		it("no path of the disk it was built on", () => {
			const repository = new RegExp(`(?<![\\w.])${REPOSITORY.replaceAll(/[^\w/]/g, "\\$&")}(?![\\w-])`);
			const naming = (folder: string) =>
				filesBelow(folder).filter((file) => repository.test(readFileSync(join(folder, file), "utf8")));
			expect(naming(unpacked)).toEqual([]);
		});

		it("code and types that import only node's own modules and declared dependencies", () => {
			const { name, dependencies, peerDependencies } = readManifest(unpacked);
			const known = [name, ...Object.keys({ ...dependencies, ...peerDependencies })];
			const imported = files
				.filter((file) => /\.(js|d\.ts)$/.test(file))
				.flatMap((file) => importsOf(readFileSync(join(unpacked, file), "utf8")));
			expect(imported).toEqual(expect.arrayContaining(["@pulumi/pulumi", "zod"]));
			expect(imported.filter((imports) => !known.includes(imports))).toEqual([]);
		});

		it("nothing that publint minds", async () => {
			const publint = join(REPOSITORY, "node_modules", ".bin", "publint");
			await outside.ok(publint, ["run", tarball, "--strict", "--level", "suggestion"], { cwd: outside.root });
		});
	});

	describe.each([
		["npm", npmProject],
		["pnpm", pnpmProject],
	] as const)("installed by %s", (manager, project) => {
		it("opens by its four entries, and by nothing else", async () => {
			const script = `
				const closed = (path) => {
					try {
						return require.resolve(path);
					} catch ({ code }) {
						return code;
					}
				};
				const paths = JSON.parse(process.argv[1]);
				const entries = ["", "/dynamic", "/extension", "/conformance"].map((entry) => "pulumi-sandboxer" + entry);
				const named = async (names) => [Object.keys(require(names)), Object.keys(await import(names))];
				Promise.all(entries.map(named)).then((open) =>
					console.log(JSON.stringify({ open, closed: paths.map((path) => closed("pulumi-sandboxer/" + path)) })),
				);
			`;
			const paths = [...files, ...files.map((file) => file.replace(/\.js$/, "")), "dist", "components", "provider"];
			const { stdout } = await outside.ok("node", ["-e", script, JSON.stringify(paths)], { cwd: project });
			const seen = JSON.parse(stdout) as { open: [string[], string[]][]; closed: string[] };
			expect([...new Set(seen.closed)]).toEqual(["ERR_PACKAGE_PATH_NOT_EXPORTED"]);
			for (const [index, name] of ["Sandbox", "provider", "SandboxerError", "conformance"].entries())
				expect(seen.open[index]).toEqual([expect.arrayContaining([name]), expect.arrayContaining([name])]);
		});

		it("runs examples/own-project: up makes a live sandbox, destroy leaves nothing", async () => {
			const stack = await Project.of(outside, project, manager);
			await stack.up();
			const { sandboxId, workspaceDir, reachability, lease } = await stack.outputs();
			outside.assertLives(sandboxId);
			expect(readdirSync(workspaceDir)).toEqual(["greet.sh"]);
			expect(reachability.host).toBe("local");
			expect(Date.parse(lease.expiresAt) - Date.parse(lease.readyAt)).toBe(2 * 3_600_000);
			await stack.destroy();
			expect((await stack.exported()).resources).toEqual([]);
		});

		it("brings the command: it finds the sandbox of a stack and works in it", async () => {
			const command = (...args: string[]) =>
				outside.ok(join(project, "node_modules", ".bin", "sandboxer"), args, { cwd: project });
			const stack = await Project.of(outside, project, `${manager}-command`);
			await stack.up();
			const { sandboxId } = await stack.outputs();
			outside.assertLives(sandboxId);
			expect((await command("list")).stdout).toMatch(new RegExp(`^${sandboxId} +ext\\.bwrap +ready `, "m"));
			const { stdout } = await command("exec", "--stack", stack.stack, "--", "sh", "-c", "pwd; ls");
			expect(stdout).toBe("/workspace\ngreet.sh\n");
			await stack.destroy();
			expect((await command("list")).stdout).toBe("No sandboxes.\n");
		});
	});

	it("has types for its three entries", async () => {
		writeFileSync(
			join(pnpmProject, "types.ts"),
			`import { Sandbox, type SandboxArgs } from "pulumi-sandboxer";
			import { provider } from "pulumi-sandboxer/dynamic";
			import type { Profile, SandboxExtension } from "pulumi-sandboxer/extension";
			const args: SandboxArgs = { profile: "bwrap-local" };
			export const id: (box: Sandbox) => Sandbox["sandboxId"] = (box) => box.sandboxId;
			export const ttl = (profile: Profile): string => profile.ttl.default;
			export const use = [args, provider, (extension: SandboxExtension) => extension];
			// @ts-expect-error: it is a string
			export const wrong: SandboxArgs = { profile: 1 };
			`,
		);
		await outside.ok("node_modules/.bin/tsc", ["-p", ".", "--noEmit"], { cwd: pnpmProject });
	});

	it.each(PROGRAMS)("runs from a program in $language", async ({ main, text }) => {
		const stack = await projectBelow(npmProject, main, text);
		expect((await stack.up()).text).not.toMatch(/could not be serialized/i);
		outside.assertLives((await stack.outputs()).sandboxId);
		await stack.refresh();
		await stack.destroy();
	});

	it("no longer installed: refresh, update and destroy fail and keep the state; installed again: destroy works", async () => {
		const [{ text }] = PROGRAMS;
		const stack = await projectBelow(npmProject, "removed.js", text);
		await stack.up();
		const { sandboxId } = await stack.outputs();
		const before = await known(stack);
		renameSync(join(npmProject, "node_modules", "pulumi-sandboxer"), outside.path("away"));
		for (const command of ["refresh", "up", "destroy"]) {
			const { code, text } = await stack.run(command, "--yes", "--skip-preview");
			expect(text).toMatch(/Cannot find module 'pulumi-sandboxer/);
			expect(code).not.toBe(0);
			expect(await known(stack)).toEqual(before);
			outside.assertLives(sandboxId);
		}
		await packages.install(npmProject, "npm", tarball);
		await stack.destroy();
	});

	// Last, for the projects move away.
	describe("case 01: what a dynamic provider leaves behind in the state", () => {
		it("steps 4 to 6: up with pnpm; elsewhere, by npm and one patch later, refresh and destroy leave nothing", async () => {
			const stack = await Project.of(outside, pnpmProject, "case-01-pnpm");
			await stack.up();
			await goesOnElsewhere(stack, "npm");
			expect((await stack.up()).text).toMatch(/3 unchanged/);
			await stack.destroy();
		});

		it("steps 4 to 6: up with npm; elsewhere, by pnpm and one patch later, refresh and destroy leave nothing", async () => {
			const stack = await Project.of(outside, npmProject, "case-01-npm");
			await stack.up();
			await goesOnElsewhere(stack, "pnpm");
			await stack.destroy();
			expect((await stack.exported()).resources).toEqual([]);
		});
	});

	/** The state holds no path of this disk's packages; moved and reinstalled, a refresh finds the sandbox as it was. */
	async function goesOnElsewhere(stack: Project, manager: PackageManager): Promise<void> {
		const { sandboxId } = await stack.outputs();
		const { init } = outside.assertLives(sandboxId);
		const { text } = await stack.exported();
		expect(text.match(/(["'\s(]|file:\/\/)\/[^"\s]*node_modules/g)).toBeNull();
		expect(text.includes(stack.folder)).toBe(false);
		stack.moveTo(outside.path(`moved-${manager}`));
		uninstall(stack.folder);
		await packages.install(stack.folder, manager, nextPatch);
		expect(readManifest(join(stack.folder, "node_modules", "pulumi-sandboxer")).version).not.toBe(version);
		await stack.ok("refresh", "--yes", "--expect-no-changes");
		expect(outside.assertLives(sandboxId).init).toEqual(init);
	}

	/** A JavaScript program in a folder below a project, with the project's packages. */
	async function projectBelow(project: string, main: string, text: string): Promise<Project> {
		const name = main.replace(".", "-");
		const folder = join(project, name);
		mkdirSync(folder);
		writeFileSync(
			join(folder, "Pulumi.yaml"),
			`name: ${name}\nruntime: { name: nodejs, options: { typescript: false } }\nmain: ${main}\n`,
		);
		writeFileSync(join(folder, main), text);
		return Project.of(outside, folder);
	}
});

/** The packages that a module names; node's own are not packages. */
function importsOf(text: string): string[] {
	return [...text.matchAll(/(?:\bfrom |\bimport |\bimport\(|\brequire\()"((?:@[^/"]+\/)?[^./"][^/"]*)/g)]
		.map(([, name]) => name ?? "")
		.filter((name) => !name.startsWith("node:"));
}

/** What the state knows of its resources: a failed refresh lets the engine forget which argument depends on which. */
async function known(stack: Project): Promise<unknown[]> {
	const { resources } = await stack.exported("--show-secrets");
	return resources.map(({ urn, id, inputs, outputs }) => ({ urn, id, inputs, outputs }));
}
