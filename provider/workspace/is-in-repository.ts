import { lstat, stat } from "node:fs/promises";
import { hasErrno } from "../errors";
import type { HeldDirectory } from "./held-directory";

/** Whether a directory lies in a git repository, as git looks for it: `.git` here or further up, on the same file system. */
export async function isInRepository(directory: HeldDirectory): Promise<boolean> {
	const { dev } = await directory.stat();
	let last: bigint | undefined;
	for (let up = directory.path; ; up += "/..") {
		const at = await stat(`${up}/.`, { bigint: true });
		if (at.dev !== dev || at.ino === last) return false;
		last = at.ino;
		try {
			await lstat(`${up}/.git`);
			return true;
		} catch (thrown) {
			if (!hasErrno(thrown, "ENOENT", "EACCES")) throw thrown;
		}
	}
}
