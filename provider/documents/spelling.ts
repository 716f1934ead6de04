import { SandboxerError } from "../errors";

/** Deeper than any document; what is deeper refers to itself. */
const MAX_DEPTH = 64;

/** A key in the documents' spelling: `memoryMb` → `memory_mb`. Keys that are not camelCase stay as they are. */
export function toDocumentKey(key: string): string {
	if (!/^[a-z][A-Za-z0-9]*$/.test(key)) return key;
	return key
		.replace(/([a-z0-9])([A-Z])/g, "$1_$2")
		.replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
		.toLowerCase();
}

/** Whether something is a plain mapping, of whatever realm: not a class's instance, such as a Pulumi Output. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * A document written in a program, with its keys in the documents' spelling (`memoryMb` → `memory_mb`),
 * at every depth. Keys without a value are left out, as in JSON. Values that are not plain objects or
 * lists (a Pulumi Output, a promise) are passed through untouched.
 *
 * @throws SandboxerError `invalid` where both spellings of a key are given, or the value refers to itself.
 */
export function toDocumentKeys(value: unknown): unknown {
	return convert(value, 0);
}

function convert(value: unknown, depth: number): unknown {
	if (depth > MAX_DEPTH) {
		throw new SandboxerError({
			code: "invalid",
			message: `The document is nested more than ${MAX_DEPTH} levels deep, or refers to itself.`,
		});
	}
	if (Array.isArray(value)) return value.map((entry) => convert(entry, depth + 1));
	if (!isPlainObject(value)) return value;
	const written = new Map<string, string>();
	const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
	for (const [key] of entries) {
		const other = written.get(toDocumentKey(key));
		if (other !== undefined)
			throw new SandboxerError({
				code: "invalid",
				message: `Both "${other}" and "${key}" are given, two spellings of one key.`,
				hint: "Keep one.",
			});
		written.set(toDocumentKey(key), key);
	}
	return Object.fromEntries(entries.map(([key, entry]) => [toDocumentKey(key), convert(entry, depth + 1)]));
}
