import type { ExtensionDeclaration } from "../documents/extension";
import { nearest } from "../documents/nearest";
import { SandboxerError } from "../errors";
import { documentFiles, onlyFile, searchedFolders } from "./document-files";
import { readDocument } from "./read-document";
import type { Search } from "./search";

/** An extension declaration and where it stands. */
export type LoadedExtension = ExtensionDeclaration & {
	/** The YAML file, absolute: the handler is found from it. */
	readonly file: string;
};

/**
 * All declared extensions, sorted by id.
 *
 * @throws SandboxerError `invalid` where a declaration has problems, or two files declare one id.
 */
export function loadExtensions(search: Search): LoadedExtension[] {
	return [...documentFiles("extension", search)].map(([id, files]) => load(id, onlyFile(id, files, search), search));
}

/**
 * The declaration of one extension; only its own file is read.
 *
 * @throws SandboxerError `invalid` where it is not declared (names those that are, and the folders searched),
 * is declared twice, or has problems.
 */
export function findExtension(id: string, search: Search): LoadedExtension {
	const files = documentFiles("extension", search);
	const found = files.get(id);
	if (found !== undefined) return load(id, onlyFile(id, found, search), search);
	throw new SandboxerError({
		code: "invalid",
		message: `Extension ${JSON.stringify(id)} ${undeclared(id, search)}.`,
		details: { id, known: [...files.keys()] },
	});
}

/** That an id is no extension's, with what may have been meant; continues a sentence that begins with the id. */
export function undeclared(id: string, search: Search): string {
	const known = [...documentFiles("extension", search).keys()];
	const meant = nearest(id, known);
	const guess = meant === undefined ? "" : `; did you mean "${meant}"?`;
	return `is not declared${guess} (known: ${known.join(", ") || "none"}; searched: ${searchedFolders("extension", search).join(", ")})`;
}

function load(id: string, path: string, search: Search): LoadedExtension {
	const { value, refuse } = readDocument("extension", path, search.cwd);
	if (value.id !== id)
		throw refuse([{ path: ["id"], reason: `is "${value.id}", but the file's name says "${id}"; make them equal` }]);
	return { ...value, file: path };
}
