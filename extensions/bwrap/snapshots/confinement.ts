import { entryUser } from "../entry/entry-command";
import { INSIDE_ENVIRONMENT } from "../holder/command";
import { programArguments } from "../holder/system-files";
import { becomeWords } from "../own-uid";
import type { Programs } from "../preflight";
import type { BwrapRecord } from "../record";

/** Where tar finds the workspace. */
export const TAR_DIRECTORY = "/workspace";

/**
 * Words before tar's own: the sandbox's user, no capability, and a file system in which there is nothing but the
 * machine's programs and the workspace. What is in the tree can lead it nowhere, whatever tar makes of it.
 */
export function tarConfinement(
	programs: Programs,
	record: BwrapRecord,
	workspace: string,
	access: "read" | "write",
): string[] {
	return [
		...becomeWords(programs, entryUser(record)),
		...[programs.bwrap, "--die-with-parent", "--unshare-all", "--cap-drop", "ALL", "--new-session"],
		...programArguments(),
		...[access === "read" ? "--ro-bind" : "--bind", workspace, TAR_DIRECTORY],
		...["--remount-ro", "/", "--clearenv", "--setenv", "PATH", INSIDE_ENVIRONMENT.PATH],
		...["--setenv", "LC_ALL", "C.UTF-8", "--"],
	];
}
