import { posix } from "node:path";
import { sandboxIdSchema } from "../documents/words";
import { SandboxerError } from "../errors";

function refusal(field: "base_dir" | "sandbox_id", value: string, rule: string, hint: string): SandboxerError {
	return new SandboxerError({
		code: "invalid",
		message: `${field} ${JSON.stringify(value)} ${rule}.`,
		hint,
		details: { field, value },
	});
}

/** What is wrong with a base_dir, whose trailing slashes are gone; undefined when nothing is. */
function baseDirFault(baseDir: string, base: string): string | undefined {
	if (baseDir === "") return "is empty";
	if (baseDir.startsWith("~")) return 'is refused: "~" is not expanded here';
	if (!baseDir.startsWith("/")) return "is not an absolute path";
	if (baseDir.includes("\0")) return "has a NUL character in it";
	if (base.split("/").includes("..")) return 'has ".." in it';
	if (base === "") return "is the whole file system";
	if (posix.normalize(base) !== base) return 'has "." or "//" in it';
	return undefined;
}

/**
 * The directory of a sandbox: `<base_dir>/<sandbox_id>`, by path parts. Looks at no disk.
 *
 * @param baseDir - absolute, normalised and not `/`; a trailing slash is fine.
 * @param sandboxId - see {@link sandboxIdSchema}.
 * @throws {@link SandboxerError} `invalid`, with the field (`base_dir` or `sandbox_id`) and its value.
 *
 * @example
 * ```ts
 * sandboxDirectory("/srv/sbx/", "demo"); // "/srv/sbx/demo"
 * ```
 */
export function sandboxDirectory(baseDir: string, sandboxId: string): string {
	const base = baseDir.replace(/\/+$/, "");
	const fault = baseDirFault(baseDir, base);
	if (fault !== undefined)
		throw refusal(
			"base_dir",
			baseDir,
			fault,
			'Give an absolute path of a directory for sandboxes alone, such as "/srv/sandboxes".',
		);
	const id = sandboxIdSchema.safeParse(sandboxId);
	if (!id.success) {
		throw refusal(
			"sandbox_id",
			sandboxId,
			`is refused: a sandbox id ${id.error.issues[0]?.message ?? "is something else"}`,
			"Give another one, or leave it out.",
		);
	}
	return `${base}/${id.data}`;
}
