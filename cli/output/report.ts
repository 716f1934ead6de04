import { SandboxerError } from "../../provider/errors";
import type { Result, Streams } from "../command-line/command";
import { printable } from "./printable";

/** Writes what a command ended with: the document alone, or the text and, on standard error, what went wrong. */
export function reportResult({ document, text, failures = [] }: Result, json: boolean, streams: Streams): void {
	if (json) {
		if (document !== undefined) writeDocument(document, streams);
		return;
	}
	if (text !== undefined && text !== "") streams.stdout.write(`${text}\n`);
	for (const failure of failures) writeError(failure, streams);
}

/** Writes why a command came to nothing: as the document, or for a person on standard error. */
export function reportError(error: SandboxerError, json: boolean, streams: Streams): void {
	if (json) writeDocument({ error: errorDocument(error) }, streams);
	else writeError(error, streams);
}

/** An error in a document. */
export function errorDocument(thrown: unknown) {
	const { code, message, hint, details } = SandboxerError.from(thrown);
	return { code, message, hint: hint ?? null, details };
}

function writeDocument(document: object, { stdout }: Streams): void {
	stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
}

function writeError({ message, hint }: SandboxerError, { stderr }: Streams): void {
	const lines = [`error: ${message}`, ...(hint === undefined ? [] : [`hint: ${hint}`])].flatMap((text) =>
		text.split("\n"),
	);
	stderr.write(`${lines.map(printable).join("\n")}\n`);
}
