import { readFile } from "node:fs/promises";
import { z } from "zod";
import { parseJson } from "../documents/parse-json";
import { errnoOf, SandboxerError } from "../errors";

/** How a record is spoken of where it is of no use. */
export interface RecordWording {
	/** Begins a sentence, and names the file. */
	readonly what: string;
	/** The way out where the file may not be read. */
	readonly unreadable: string;
	/** The way out where it holds no such record. */
	readonly damaged: string;
}

/**
 * The record that a file holds as JSON; `undefined` where there is no such file.
 *
 * @throws SandboxerError `unknown` where that is not certain: it cannot be read, or is not of the schema.
 */
export async function readRecordFile<S extends z.ZodType>(
	file: string,
	schema: S,
	{ what, unreadable, damaged }: RecordWording,
): Promise<z.output<S> | undefined> {
	let text: string;
	try {
		text = await readFile(file, "utf8");
	} catch (cause) {
		const errno = errnoOf(cause);
		if (errno === "ENOENT" || errno === "ENOTDIR") return undefined;
		throw new SandboxerError({
			code: "unknown",
			message: `${what} could not be read (${errno ?? String(cause)}).`,
			hint: unreadable,
			cause,
		});
	}
	const parsed = schema.safeParse(parseJson(text));
	if (parsed.success) return parsed.data;
	throw new SandboxerError({
		code: "unknown",
		message: `${what} is damaged, or of another version of this package: ${z.prettifyError(parsed.error)}.`,
		hint: damaged,
	});
}
