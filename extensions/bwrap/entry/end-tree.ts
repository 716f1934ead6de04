import { readFileSync } from "node:fs";
import { hasErrno } from "../../../provider/errors";

/**
 * Ends an entry and all that it became. All of it ends with bwrap, and so with the entry's own group, but not soon
 * where hundreds fork: whoever ends gives its memory back first, and waits its turn for the locks of libc's mapping
 * behind all of them. That was seen to last 27 s, and all the while the command ran on. So the session of the command
 * gets the signal itself, in one call that no fork outruns, and with it bwrap's child, which leads it and with which
 * the whole pid namespace ends. No look through all processes: beside a storm there is no time for one.
 *
 * @param pid - Of the child that enters, not yet waited for; it leads a group.
 */
export function endTree(pid: number): void {
	const first = firstInside(pid);
	if (first !== undefined) endGroup(first);
	endGroup(pid);
}

/**
 * The first process of the command's own pid namespace: nsenter's child is bwrap, and bwrap's is that one. Undefined
 * where the entry has not come so far, or the kernel does not tell children (CONFIG_PROC_CHILDREN).
 */
function firstInside(pid: number): number | undefined {
	const bwrap = childOf(pid);
	const first = bwrap === undefined ? undefined : childOf(bwrap);
	// Still its child: so the number meant the same process all the time.
	return childOf(pid) === bwrap ? first : undefined;
}

function childOf(pid: number): number | undefined {
	try {
		const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
		return Number(child) > 1 ? Number(child) : undefined;
	} catch (thrown) {
		if (hasErrno(thrown, "ENOENT", "ESRCH")) return undefined;
		throw thrown;
	}
}

function endGroup(leader: number): void {
	try {
		process.kill(-leader, "SIGKILL");
	} catch (thrown) {
		if (!hasErrno(thrown, "ESRCH")) throw thrown;
	}
}
