import { fieldPath } from "../documents/field-path";
import { SandboxerError } from "../errors";

/** A problem of a document, with its place. */
export interface PlacedProblem {
	/** Absent for a document that is not a file. */
	readonly line?: number | undefined;
	readonly path: readonly PropertyKey[];
	/** Continues a sentence that begins with the path. */
	readonly reason: string;
}

/** A message longer than this helps nobody; `details.problems` has them all. */
const MAX_LINES = 40;

/** All problems of a document as one error, a line each: `FILE:LINE: key.path: what is wrong`. */
export function invalidDocument(file: string, problems: readonly PlacedProblem[]): SandboxerError {
	const placed = problems
		.map(({ line, path, reason }) => ({ ...(line === undefined ? {} : { line }), path: fieldPath(path), reason }))
		.sort((left, right) => (left.line ?? 0) - (right.line ?? 0));
	const lines = placed.slice(0, MAX_LINES).map(({ line, path, reason }) => {
		const place = line === undefined ? file : `${file}:${line}`;
		return `${place}: ${path === "" ? `the document ${reason}` : `${path}: ${reason}`}`;
	});
	if (placed.length > MAX_LINES) lines.push(`${file}: and ${placed.length - MAX_LINES} more problems`);
	return new SandboxerError({ code: "invalid", message: lines.join("\n"), details: { file, problems: placed } });
}
