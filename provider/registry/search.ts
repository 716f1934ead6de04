import { statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { SandboxerError } from "../errors";

/** Where documents are looked for, after the package's own folders. */
export interface Search {
	/** The folder of the program: relative paths start here. Absolute. */
	readonly cwd: string;
	readonly profileFolders: readonly string[];
	readonly extensionFolders: readonly string[];
}

/** The search path as stack config gives it. */
export interface SearchSettings {
	readonly cwd: string;
	/** `sandboxer:profilePath`: folders, separated by ":", relative to cwd. */
	readonly profilePath?: string | undefined;
	/** `sandboxer:extensionPath`, likewise. */
	readonly extensionPath?: string | undefined;
}

/** The root of this package: the repository's, or `dist` once it is built. */
export const PACKAGE_ROOT = join(__dirname, "..", "..");
/** The package's own profiles. */
export const OWN_PROFILES = join(PACKAGE_ROOT, "profiles");
/** The package's own extensions, a folder each. */
export const OWN_EXTENSIONS = join(PACKAGE_ROOT, "extensions");

/**
 * The search path from stack config.
 *
 * @throws SandboxerError `invalid` where a folder does not exist; names the config key.
 *
 * @example
 * ```ts
 * searchFrom({ cwd: process.cwd(), profilePath: config.get("profilePath"), extensionPath: config.get("extensionPath") });
 * ```
 */
export function searchFrom({ cwd, profilePath, extensionPath }: SearchSettings): Search {
	return {
		cwd: resolve(cwd),
		profileFolders: folders("sandboxer:profilePath", profilePath, cwd),
		extensionFolders: folders("sandboxer:extensionPath", extensionPath, cwd),
	};
}

function folders(configKey: string, list: string | undefined, cwd: string): string[] {
	return (list ?? "")
		.split(":")
		.filter((part) => part !== "")
		.map((part) => {
			const folder = resolve(cwd, part);
			if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
			throw new SandboxerError({
				code: "invalid",
				message: `${configKey}: ${JSON.stringify(part)} is not a folder (looked for ${folder}).`,
				hint: `Make it, or mend the path: pulumi config set ${configKey} <folder>[:<folder>…], relative to the program's folder.`,
				details: { configKey, folder },
			});
		});
}

/** A file as messages name it: relative to the program's folder where it lies in it. */
export function shownPath(file: string, cwd: string): string {
	const path = relative(cwd, file);
	return path === "" || path.startsWith("..") ? file : path;
}
