import { readdir, readFile, readlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { sandboxIdSchema } from "../../../provider/documents/words";
import { hasErrno } from "../../../provider/errors";
import type { ProcessIdentity } from "../../../provider/identity";
import { OWN_UIDS } from "../own-uid";
import type { Site } from "../site";

/** A process on this machine that holds a sandbox of a state folder. */
export interface HolderProcess {
	readonly role: "supervisor" | "bwrap";
	readonly sandboxId: string;
	readonly identity: ProcessIdentity;
	readonly parent: number;
}

/**
 * The supervisors and bwraps of this user whose command line names a folder of this state folder. What runs inside a
 * sandbox is none, whatever it calls itself: it is in other namespaces.
 */
export async function holderProcesses(site: Site): Promise<HolderProcess[]> {
	const here = await namespacesOf("self");
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	const found = await Promise.all(
		pids.map(async (pid) => {
			try {
				return await holderProcess(site, Number(pid), here);
			} catch (thrown) {
				// It has ended meanwhile, or is somebody else's.
				if (hasErrno(thrown, "ENOENT", "ESRCH", "EACCES", "EPERM")) return undefined;
				throw thrown;
			}
		}),
	);
	return found.filter((process) => process !== undefined);
}

async function holderProcess(site: Site, pid: number, here: string): Promise<HolderProcess | undefined> {
	const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
	const role = roleOf(words);
	const folder = role === undefined ? undefined : folderOf(role, words);
	if (role === undefined || folder === undefined || dirname(folder) !== site.base) return undefined;
	const sandboxId = basename(folder);
	const status = await readFile(`/proc/${pid}/status`, "utf8");
	const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
	const isOurs = isOwn(role, field("Uid")) && (await namespacesOf(pid)) === here;
	// A supervisor leads its group: what it forks has its words for a moment, or for good. It has let go of its caller's
	// pipe: one that has not waits for a lock, and holds nothing.
	const holds = role === "bwrap" || (field("NSpgid") === pid && (await readlink(`/proc/${pid}/fd/0`)) === "/dev/null");
	if (!isOurs || !holds) return undefined;
	const identity = site.table.identify(pid);
	if (identity === undefined || !sandboxIdSchema.safeParse(sandboxId).success) return undefined;
	return { role, sandboxId, identity, parent: field("PPid") };
}

function roleOf([program = "", option, name]: readonly string[]): HolderProcess["role"] | undefined {
	if (option === "-s" && name === "supervise") return "supervisor";
	return basename(program) === "bwrap" ? "bwrap" : undefined;
}

function folderOf(role: HolderProcess["role"], words: readonly string[]): string | undefined {
	if (role === "supervisor") return words[5];
	const at = words.indexOf("/run/sbx");
	return words[at - 2] === "--ro-bind" ? dirname(words[at - 1] ?? "") : undefined;
}

function isOwn(role: HolderProcess["role"], uid: number): boolean {
	const own = process.getuid?.();
	if (own === 0 && role === "bwrap") return uid >= OWN_UIDS.first && uid <= OWN_UIDS.last;
	return uid === own;
}

async function namespacesOf(pid: number | "self"): Promise<string> {
	return (await Promise.all(["user", "pid"].map((kind) => readlink(`/proc/${pid}/ns/${kind}`)))).join(" ");
}
