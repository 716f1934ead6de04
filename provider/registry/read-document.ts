import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Documents, ReadDocument } from "./document";
import type { DocumentKind } from "./document-files";
import { PACKAGE_ROOT, shownPath } from "./search";

/** A document of the package that was judged when the package was built. */
interface BuiltDocument {
	/** Of the YAML file that was judged. */
	readonly sha256: string;
	readonly value: unknown;
}

/** Where the build puts them, by their files' paths from there. */
const BUILT = join(PACKAGE_ROOT, "documents.json");

let built: Readonly<Record<string, BuiltDocument>> | undefined;

/**
 * Reads a document strictly. The package's own were judged when it was built: whoever uses no others waits neither for
 * YAML nor for schemas, which take longer to load than all else together.
 *
 * @throws SandboxerError `invalid` with all problems at once, each with file, line and key.
 */
export function readDocument<K extends DocumentKind>(kind: K, path: string, cwd: string): ReadDocument<Documents[K]> {
	const value = builtValue(path);
	const judged = () => judging().judgeDocument(kind, path, cwd);
	if (value === undefined) return judged();
	return { value: value as Documents[K], file: shownPath(path, cwd), refuse: (more) => judged().refuse(more) };
}

function builtValue(path: string): unknown {
	built ??= existsSync(BUILT) ? (JSON.parse(readFileSync(BUILT, "utf8")) as Record<string, BuiltDocument>) : {};
	const name = relative(PACKAGE_ROOT, path);
	const document = Object.hasOwn(built, name) ? built[name] : undefined;
	return document === undefined || document.sha256 !== sha256Of(path) ? undefined : document.value;
}

/** Of a file, in hexadecimal. */
export function sha256Of(path: string): string {
	return createHash("sha256").update(readFileSync(path)).digest("hex");
}

function judging(): typeof import("./judge-document") {
	return require("./judge-document") as typeof import("./judge-document");
}
