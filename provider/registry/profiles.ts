import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { nearest } from "../documents/nearest";
import type { Profile } from "../documents/profile";
import { SandboxerError } from "../errors";
import type { ReadDocument } from "./document";
import { documentFiles, onlyFile, searchedFolders } from "./document-files";
import type { LoadedExtension } from "./extensions";
import { profileExtensions } from "./profile-extensions";
import { readDocument } from "./read-document";
import type { Search } from "./search";

/** A profile, ready to be bound. */
export interface LoadedProfile {
	/** Defaults filled in. Values of an inline profile that are known later (Pulumi Outputs) stand in it as they came. */
	readonly profile: Profile;
	/** The declaration of the profile's extension; undefined for a profile with a route. */
	readonly declaration: LoadedExtension | undefined;
	/** Where it came from: the file, relative to the program's folder where it lies in it, or "inline". */
	readonly source: string;
}

/** A profile that a name stands for. */
export interface ProfileListing {
	readonly id: string;
	/** Absolute. */
	readonly file: string;
}

/**
 * Loads a profile and the declaration of its extension.
 *
 * @param reference - A name (`bwrap-local` or `profile.bwrap-local`), a path relative to `search.cwd` (it
 * holds a slash or ends in .yaml or .yml), or the document itself, its keys in either spelling.
 * @throws SandboxerError `invalid` with all problems at once, each with file, line and key; where the
 * profile is not found; where its extension is not declared or lacks its isolation level.
 *
 * @example
 * ```ts
 * const { profile, declaration } = loadProfile("bwrap-local", searchFrom({ cwd: process.cwd() }));
 * ```
 */
export function loadProfile(reference: string | object, search: Search): LoadedProfile {
	const {
		value: profile,
		file: source,
		refuse,
	} = typeof reference === "string" ? readProfile(reference, search) : inline().inlineProfile(reference);
	const { declaration, problems } = profileExtensions(profile, search);
	if (problems.length > 0) throw refuse(problems);
	return { profile, declaration, source };
}

/**
 * The profiles that names stand for, sorted by id. None is read.
 *
 * @throws SandboxerError `invalid` where two files claim one id.
 */
export function listProfiles(search: Search): ProfileListing[] {
	return [...documentFiles("profile", search)].map(([id, files]) => ({ id, file: onlyFile(id, files, search) }));
}

function readProfile(reference: string, search: Search): ReadDocument<Profile> {
	const path = /\/|\.ya?ml$/.test(reference) ? existing(reference, search) : named(reference, search);
	const document = readDocument("profile", path, search.cwd);
	const nameInFile = /^(profile\..+)\.ya?ml$/.exec(basename(path))?.[1];
	const { id } = document.value;
	if (nameInFile === undefined || nameInFile === id) return document;
	throw document.refuse([
		{ path: ["id"], reason: `is "${id}", but the file's name says "${nameInFile}"; make them equal` },
	]);
}

/** Loaded for whoever has one: it needs the schemas. */
function inline(): typeof import("./inline-profile") {
	return require("./inline-profile") as typeof import("./inline-profile");
}

function existing(reference: string, search: Search): string {
	const path = resolve(search.cwd, reference);
	if (existsSync(path)) return path;
	throw new SandboxerError({
		code: "invalid",
		message: `Profile ${JSON.stringify(reference)} was not found: there is no file ${path}.`,
		hint: `Paths start at the program's folder, ${search.cwd}. A name without a slash or .yaml, such as "bwrap-local", is looked up in the search path.`,
		details: { reference, file: path },
	});
}

function named(reference: string, search: Search): string {
	const files = documentFiles("profile", search);
	const id = reference.startsWith("profile.") ? reference : `profile.${reference}`;
	const found = files.get(id);
	if (found !== undefined) return onlyFile(id, found, search);
	const known = [...files.keys()];
	const searched = searchedFolders("profile", search);
	const meant = nearest(id, known);
	const file = `${id.replaceAll(/[^\w.-]/g, "-")}.yaml`;
	throw new SandboxerError({
		code: "invalid",
		message: `Profile ${JSON.stringify(reference)} was not found${meant === undefined ? "." : `; did you mean "${meant}"?`} Known profiles: ${known.join(", ") || "none"}. Searched folders: ${searched.join(", ")}.`,
		hint: `Add the folder that holds ${file} to sandboxer:profilePath, or give the file's path ("./${file}").`,
		details: { reference, known, searched },
	});
}
