import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { extensionSchema } from "../documents/extension";
import { type DocumentProblem, firstOfEachPath, judge } from "../documents/problems";
import { profileSchema } from "../documents/profile";
import { SandboxerError } from "../errors";
import type { Documents, ReadDocument } from "./document";
import type { DocumentKind } from "./document-files";
import { invalidDocument } from "./invalid-document";
import { readYaml } from "./read-yaml";
import { shownPath } from "./search";

/** The largest document: far above any real one, far below what could exhaust the reader. */
export const MAX_DOCUMENT_BYTES = 64 * 1024;

const SCHEMAS = { profile: profileSchema, extension: extensionSchema };

/**
 * Reads a YAML document strictly and judges it by its schema.
 *
 * @throws SandboxerError `invalid` with all problems at once, each with file, line and key.
 */
export function judgeDocument<K extends DocumentKind>(kind: K, path: string, cwd: string): ReadDocument<Documents[K]> {
	const file = shownPath(path, cwd);
	const yaml = readYaml(textOf(path, file));
	if (!yaml.readable) throw invalidDocument(file, yaml.problems);
	const judged = judge(SCHEMAS[kind], yaml.value);
	const placed = (problems: readonly DocumentProblem[]) =>
		problems.map((problem) => ({ ...problem, line: yaml.lineOf(problem.path) }));
	const problems = [...yaml.problems, ...(judged.sound ? [] : placed(judged.problems))];
	if (!judged.sound || problems.length > 0) throw invalidDocument(file, firstOfEachPath(problems));
	return { value: judged.data as Documents[K], file, refuse: (more) => invalidDocument(file, placed(more)) };
}

function textOf(path: string, file: string): string {
	const refusal = (reason: string, cause?: unknown): SandboxerError =>
		new SandboxerError({
			code: "invalid",
			message: `${file}: ${reason}.`,
			details: { file: path, problems: [{ path: "", reason }] },
			cause,
		});
	let bytes: Buffer;
	try {
		const facts = statSync(path);
		if (!facts.isFile()) throw refusal("is not a file");
		if (facts.size > MAX_DOCUMENT_BYTES)
			throw refusal(`has ${facts.size} bytes; a document has at most ${MAX_DOCUMENT_BYTES}`);
		bytes = readFileSync(path);
	} catch (thrown) {
		if (thrown instanceof SandboxerError) throw thrown;
		throw refusal(`cannot be read: ${(thrown as Error).message}`, thrown);
	}
	if (!isUtf8(bytes)) throw refusal("is not UTF-8 text");
	return new TextDecoder().decode(bytes);
}
