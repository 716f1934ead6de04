import type { Handle } from "../contract/types";
import { parseJson } from "../documents/parse-json";
import { SandboxerError } from "../errors";

/**
 * The one handle in a value: a handle itself, the outputs of a stack (`pulumi stack output --json`), or either
 * as JSON text.
 *
 * @throws SandboxerError `invalid` where there is none, or more than one sandbox's.
 */
export function findHandle(value: unknown): Handle {
	const found = new Map(
		handlesIn(typeof value === "string" ? parseJson(value) : value).map((handle) => [
			`${handle.extension} ${handle.sandbox_id}`,
			handle,
		]),
	);
	const [first, ...more] = found.values();
	if (first !== undefined && more.length === 0) return first;
	if (first === undefined) {
		throw new SandboxerError({
			code: "invalid",
			message: "There is no handle of a sandbox in what was given.",
			hint: "Give the `handle` output of a Sandbox, or stack outputs that hold one: export const handle = box.handle.",
		});
	}
	throw new SandboxerError({
		code: "invalid",
		message: `There are handles of ${found.size} sandboxes in what was given: ${[...found.values()].map((handle) => handle.sandbox_id).join(", ")}.`,
		hint: "Give one of them.",
	});
}

function handlesIn(value: unknown): Handle[] {
	if (typeof value !== "object" || value === null) return [];
	return isHandle(value) ? [value] : Object.values(value).flatMap(handlesIn);
}

function isHandle(value: object): value is Handle {
	const { extension, sandbox_id, generation } = value as Partial<Handle>;
	return (
		typeof extension === "string" &&
		extension.startsWith("ext.") &&
		typeof sandbox_id === "string" &&
		typeof generation === "number"
	);
}
