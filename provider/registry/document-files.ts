import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, SandboxerError } from "../errors";
import { OWN_EXTENSIONS, OWN_PROFILES, type Search, shownPath } from "./search";

/** The documents that have files: profiles and extension declarations. */
export type DocumentKind = "profile" | "extension";

const FILE_NAMES: Readonly<Record<DocumentKind, RegExp>> = {
	profile: /^(profile\..+)\.yaml$/,
	extension: /^(ext\..+)\.yaml$/,
};

/** The files that claim one id. */
export type Files = readonly [string, ...string[]];

/** The folders in which documents of a kind are looked for, the package's own first. */
export function searchedFolders(kind: DocumentKind, search: Search): string[] {
	return kind === "profile" ? [OWN_PROFILES, ...search.profileFolders] : [OWN_EXTENSIONS, ...search.extensionFolders];
}

/**
 * The files of all documents of a kind, by the id in their name, sorted. None is read. Folders are searched
 * themselves and one level down.
 */
export function documentFiles(kind: DocumentKind, search: Search): ReadonlyMap<string, Files> {
	const found = new Map<string, Files>();
	const seen = new Set<string>();
	for (const { name, path } of searchedFolders(kind, search).flatMap((folder) => filesIn(folder, FILE_NAMES[kind]))) {
		const id = FILE_NAMES[kind].exec(name)?.[1];
		const real = realPath(path);
		if (id === undefined || seen.has(real)) continue;
		seen.add(real);
		const others = found.get(id);
		found.set(id, others === undefined ? [path] : [...others, path]);
	}
	return new Map([...found].sort(([left], [right]) => (left < right ? -1 : 1)));
}

/**
 * The one file of an id.
 *
 * @throws SandboxerError `invalid` where two files claim the id.
 */
export function onlyFile(id: string, files: Files, search: Search): string {
	if (files.length === 1) return files[0];
	throw new SandboxerError({
		code: "invalid",
		message: `${id} is declared more than once: ${files.map((file) => shownPath(file, search.cwd)).join(" and ")}.`,
		hint: "Rename one of them, both the file and its id.",
		details: { id, files },
	});
}

interface Entry {
	readonly name: string;
	readonly path: string;
}

function filesIn(folder: string, name: RegExp): Entry[] {
	const entries = list(folder);
	const inside = entries
		.filter((entry) => !entry.name.startsWith(".") && entry.name !== "node_modules" && isFolder(folder, entry))
		.map((entry) => join(folder, entry.name));
	return [
		...named(folder, entries, name),
		...inside.flatMap((path) => named(path, list(path, { maySkip: true }), name)),
	];
}

function named(folder: string, entries: readonly Dirent[], name: RegExp): Entry[] {
	return entries
		.filter((entry) => name.test(entry.name) && !isFolder(folder, entry))
		.map((entry) => ({ name: entry.name, path: join(folder, entry.name) }));
}

function isFolder(folder: string, entry: Dirent): boolean {
	if (!entry.isSymbolicLink()) return entry.isDirectory();
	return statSync(join(folder, entry.name), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function realPath(path: string): string {
	return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
}

/** @param maySkip - A folder that was not named itself may belong to somebody else: then nothing in it is meant. */
function list(folder: string, { maySkip = false } = {}): Dirent[] {
	try {
		return readdirSync(folder, { withFileTypes: true }).sort((left, right) => (left.name < right.name ? -1 : 1));
	} catch (cause) {
		if (maySkip && errnoOf(cause) === "EACCES") return [];
		throw new SandboxerError({
			code: "invalid",
			message: `The folder ${folder} cannot be searched for profiles and extensions: ${(cause as Error).message}.`,
			cause,
		});
	}
}
