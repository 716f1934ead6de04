import { Composer, type Document, Lexer, LineCounter, Parser, type YAMLParseError, type YAMLWarning } from "yaml";
import { MAX_DEPTH, plainTree } from "./yaml-tree";

/** A problem with a YAML text. */
export interface YamlProblem {
	readonly line: number;
	readonly path: readonly PropertyKey[];
	/** Continues a sentence that begins with the path, or with "the document". */
	readonly reason: string;
}

/** A YAML text as plain values. */
export interface YamlReading {
	/** False where the text is not YAML at all: there is no value then, and judging one would only add noise. */
	readonly readable: boolean;
	readonly value: unknown;
	readonly problems: readonly YamlProblem[];
	/** The line of the key at that path; of the mapping around it where the key is missing. */
	lineOf(path: readonly PropertyKey[]): number;
}

/** A level of a document takes up to three entries of the parser's stack. */
const MAX_STACK = 4 * MAX_DEPTH;
/** One slip can make the parser stumble over every line after it. */
const MAX_SYNTAX_PROBLEMS = 5;

/**
 * Reads a YAML 1.2 text strictly: one document, the core schema, no merge keys, no tags but the core ones.
 * Anchors and aliases work.
 */
export function readYaml(text: string): YamlReading {
	const lines = new LineCounter();
	const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
	const composed = compose(text, lines);
	if ("reason" in composed) return unreadable([{ line: lineAt(composed.offset), path: [], reason: composed.reason }]);
	const complaints = [...composed.errors, ...composed.warnings];
	if (complaints.length > 0) return unreadable(syntaxProblems(complaints, text, lineAt));
	const { version } = composed.directives.yaml;
	if (version !== "1.2")
		return unreadable([
			{ line: 1, path: [], reason: `asks for YAML ${version}; documents are YAML 1.2, so leave the %YAML line out` },
		]);
	if (composed.contents === null) return unreadable([{ line: 1, path: [], reason: "is empty" }]);
	const tree = plainTree(composed.contents);
	return {
		readable: tree.readable,
		value: tree.value,
		problems: tree.problems.map(({ path, offset, reason }) => ({ line: lineAt(offset), path, reason })),
		lineOf: (path) => lineAt(tree.offsetOf(path)),
	};
}

function unreadable(problems: readonly YamlProblem[]): YamlReading {
	return { readable: false, value: undefined, problems, lineOf: () => 1 };
}

/** The text's only document, or why there is none. Depth is watched here: the library notices it only by a stack overflow. */
function compose(
	text: string,
	lines: LineCounter,
): Document.Parsed | { readonly offset: number; readonly reason: string } {
	const parser = new Parser(lines.addNewLine);
	const tokens = [];
	lines.addNewLine(0);
	for (const lexeme of new Lexer().lex(text)) {
		for (const token of parser.next(lexeme)) tokens.push(token);
		if (parser.stack.length > MAX_STACK)
			return { offset: parser.offset, reason: `is nested more than ${MAX_DEPTH} levels deep` };
	}
	for (const token of parser.end()) tokens.push(token);
	const composer = new Composer({
		version: "1.2",
		schema: "core",
		strict: true,
		stringKeys: true,
		merge: false,
		resolveKnownTags: false,
		uniqueKeys: false,
	});
	const [document, second] = composer.compose(tokens, true, text.length);
	if (document === undefined) return { offset: 0, reason: "is empty" };
	if (second !== undefined && document.errors.length === 0)
		return { offset: second.range[0], reason: "is followed by a second one (---); write each into a file of its own" };
	return document;
}

function syntaxProblems(
	complaints: readonly (YAMLParseError | YAMLWarning)[],
	text: string,
	lineAt: (offset: number) => number,
): YamlProblem[] {
	const ofLine = new Map<number, YamlProblem>();
	for (const { code, message, pos } of complaints) {
		const line = lineAt(pos[0]);
		const tag = text.slice(...pos);
		// The library repeats source text after a colon: it may be a secret.
		const plain =
			code === "TAG_RESOLVE_FAILED"
				? `uses the tag ${tag}; documents hold plain values only`
				: `is not YAML: ${message.replace(/(?<=\w): .*$/s, "")}`;
		if (!ofLine.has(line)) ofLine.set(line, { line, path: [], reason: plain });
	}
	return [...ofLine.values()].slice(0, MAX_SYNTAX_PROBLEMS);
}
