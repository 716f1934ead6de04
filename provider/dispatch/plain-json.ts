import type { Json } from "../contract";
import { SandboxerError } from "../errors";

/**
 * The gate through which everything goes that a state shall hold: plain JSON, and an error with the path
 * where it cannot be. The engine's own conversion makes {} of a date and null of NaN without a word.
 */
export function plainJson(value: unknown, path = "outputs", above: readonly object[] = []): Json {
	if (value === null || typeof value === "boolean" || typeof value === "string") return value;
	if (typeof value === "number") {
		if (!Number.isFinite(value)) throw notPlain(path, `the number ${value}`);
		return Object.is(value, -0) ? 0 : value;
	}
	if (typeof value !== "object") throw notPlain(path, `a ${typeof value}`);
	if (above.includes(value)) throw notPlain(path, "a loop");
	const below = [...above, value];
	if (Array.isArray(value))
		return value.map((member, index) => (member === undefined ? null : plainJson(member, `${path}[${index}]`, below)));
	if (value instanceof Date)
		return plainJson(Number.isNaN(value.getTime()) ? Number.NaN : value.toISOString(), path, below);
	if (value instanceof Map) return plainJson(Object.fromEntries(value), path, below);
	if (value instanceof Set) return plainJson([...value], path, below);
	const prototype = Object.getPrototypeOf(value) as object | null;
	if (prototype !== null && prototype !== Object.prototype) throw notPlain(path, `a ${value.constructor.name}`);
	const entries = Object.entries(value).filter(([, member]) => member !== undefined);
	return Object.fromEntries(entries.map(([key, member]) => [key, plainJson(member, `${path}.${key}`, below)]));
}

function notPlain(path: string, what: string): SandboxerError {
	return new SandboxerError({
		code: "internal",
		message: `${path} is ${what}, which a state cannot hold.`,
		hint: "The extension must return plain JSON there.",
	});
}
