import { SandboxerError } from "../errors";
import { sandboxDirectory } from "./sandbox-directory";

/**
 * Checks a remote_dir as it stands in a state or handle before anything is removed or written there: it
 * must be the sandbox's own directory, by path parts, a trailing slash aside. Looks at no disk.
 *
 * @param setting - What a person sets baseDir with, for the message.
 * @throws {@link SandboxerError} `invalid`, with remote_dir, its value and the expected one; for an
 * unacceptable base_dir or sandbox_id as {@link sandboxDirectory} does.
 *
 * @example
 * ```ts
 * assertWithin("/srv/sbx", "demo", "/srv/sbx-other/demo"); // throws
 * ```
 */
export function assertWithin(baseDir: string, sandboxId: string, remoteDir: string, setting = "base_dir"): void {
	const expected = sandboxDirectory(baseDir, sandboxId);
	if (remoteDir.replace(/\/+$/, "") === expected) return;
	throw new SandboxerError({
		code: "invalid",
		message: `remote_dir ${JSON.stringify(remoteDir)} is not the directory of sandbox "${sandboxId}", which is ${JSON.stringify(expected)}. Nothing was touched.`,
		hint: `The state was edited, or ${setting} is another one than at create: put one of them right, then run again.`,
		details: { field: "remote_dir", value: remoteDir, expected },
	});
}
