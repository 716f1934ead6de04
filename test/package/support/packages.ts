import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type OutsideFolder, REPOSITORY } from "./outside-folder";

const PNPM = "12.21.0";

export type PackageManager = "npm" | "pnpm";

/** Package managers and the package's tarballs, in one folder outside the repository. */
export class Packages {
	private pnpm: Promise<string> | undefined;

	constructor(private readonly outside: OutsideFolder) {}

	/** The package as it would be published. Built only where there is no dist. */
	async pack(): Promise<string> {
		if (!existsSync(join(REPOSITORY, "dist")))
			await this.outside.ok("scripts/build", [], { cwd: REPOSITORY, env: ordinary() });
		return this.packFolder(REPOSITORY);
	}

	/** What a tarball holds, below a folder of its own. */
	async unpack(tarball: string): Promise<string> {
		const to = mkdtempSync(this.outside.path("unpacked-"));
		await this.outside.ok("tar", ["-xzf", tarball, "-C", to], { cwd: to });
		return join(to, "package");
	}

	/** The same package, one patch version later. */
	async nextPatch(tarball: string): Promise<string> {
		const folder = await this.unpack(tarball);
		const manifest = readManifest(folder);
		const [major, minor, patch] = manifest.version.split(".");
		writeManifest(folder, { ...manifest, version: `${major}.${minor}.${Number(patch) + 1}` });
		return this.packFolder(folder);
	}

	/** Installs a project's dependencies, with the package from a tarball, as a user does. */
	async install(project: string, manager: PackageManager, tarball: string): Promise<void> {
		useTarball(project, tarball);
		if (manager === "npm") await this.npmInstall(project);
		else await this.pnpmInstall(project);
	}

	async npmInstall(folder: string, ...more: string[]): Promise<void> {
		const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--no-update-notifier", ...more];
		await this.outside.ok("npm", args, { cwd: folder, env: ordinary() });
	}

	/** Nested: a package resolves only what it depends on. Its caches stand beside the toolchain's, for the next run. */
	private async pnpmInstall(folder: string): Promise<void> {
		this.pnpm ??= this.fetchPnpm();
		const caches = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "pulumi-sandboxer", "pnpm");
		const args = ["install", "--prefer-offline", "--ignore-scripts", "--no-frozen-lockfile", "--node-linker=isolated"];
		await this.outside.ok(await this.pnpm, [...args, "--store-dir", join(caches, "store")], {
			cwd: folder,
			env: { ...ordinary(), XDG_CACHE_HOME: caches, XDG_DATA_HOME: caches, XDG_STATE_HOME: caches },
		});
	}

	private async fetchPnpm(): Promise<string> {
		const to = this.outside.path("pnpm");
		mkdirSync(to);
		await this.npmInstall(to, "--prefix", to, `pnpm@${PNPM}`);
		return join(to, "node_modules", ".bin", "pnpm");
	}

	private async packFolder(folder: string): Promise<string> {
		const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", this.outside.root];
		const { stdout } = await this.outside.ok("npm", args, { cwd: folder, env: ordinary() });
		const [packed] = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>);
		return this.outside.path(packed?.filename ?? "");
	}
}

/** Takes away what a package manager has installed. */
export function uninstall(project: string): void {
	for (const name of ["node_modules", "package-lock.json", "pnpm-lock.yaml"])
		rmSync(join(project, name), { recursive: true, force: true });
}

/** Writes a tarball where the project names the package's version, should it name it. */
export function useTarball(project: string, tarball: string): void {
	const manifest = readManifest(project);
	if (manifest.dependencies?.["pulumi-sandboxer"] === undefined) return;
	writeManifest(project, {
		...manifest,
		dependencies: { ...manifest.dependencies, "pulumi-sandboxer": `file:${tarball}` },
	});
}

interface Manifest {
	readonly name: string;
	readonly version: string;
	readonly dependencies?: Readonly<Record<string, string>>;
	readonly peerDependencies?: Readonly<Record<string, string>>;
}

export function readManifest(folder: string): Manifest {
	return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

function writeManifest(folder: string, manifest: object): void {
	writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, undefined, 2));
}

/** All files below a folder, as paths from there, sorted. */
export function filesBelow(folder: string): string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
		.sort();
}

/** The ordinary environment, without what `npm test` has set for this repository. */
function ordinary(): NodeJS.ProcessEnv {
	const own = /^npm_(package|lifecycle)_|^npm_(command|execpath|node_execpath|config_local_prefix)$|^INIT_CWD$/;
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}
