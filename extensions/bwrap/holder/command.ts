import { join } from "node:path";
import { becomeWords } from "../own-uid";
import type { Programs } from "../preflight";
import type { BwrapRecord } from "../record";
import { HOME, systemArguments } from "./system-files";

/** Size of each private tmpfs where the profile sets no memory limit, in bytes. */
const DEFAULT_TMPFS_BYTES = 512 * 1024 * 1024;

/** Size of /run, in bytes: it holds marks and secrets only. */
export const RUN_BYTES = 1024 * 1024;

/**
 * Size of /tmp, /dev/shm and the home, in bytes. What is in them counts as the sandbox's memory: a full one
 * shall say so instead of ending processes, and all of them full leave enough to run what empties them.
 */
export function tmpfsBytes({ memory_mb }: BwrapRecord["resources"]): number {
	return memory_mb === undefined ? DEFAULT_TMPFS_BYTES : memory_mb * 256 * 1024;
}

/** The folders of one sandbox, below its own. */
export function sandboxFolders(directory: string) {
	return {
		workspace: join(directory, "workspace"),
		control: join(directory, "control"),
		/** Under network allow. */
		resolvers: join(directory, "resolv.conf"),
		/** What supervise and bwrap print: read when the start fails. */
		log: join(directory, "log"),
		/** Who the supervisor is, written by itself. */
		supervisor: join(directory, "supervisor"),
		/** What the supervisor has judged of the lease. */
		verdict: join(directory, "verdict"),
	};
}

/** Descriptors of the holder's command, by number. The lock's is closed, and the files' are opened, for that command. */
export const HOLDER_DESCRIPTORS = {
	info: 3,
	ready: 4,
	lock: 5,
	filter: 6,
	/** Of the files of /etc. No shell need know a number above 9. */
	files: { passwd: 5, group: 7, hosts: 8, "nsswitch.conf": 9 },
} as const;

/** The environment of everything inside, and nothing beside it. */
export const INSIDE_ENVIRONMENT = {
	PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	HOME,
	LANG: "C.UTF-8",
} as const;

/** bwrap closes only descriptors it was told of: these (each /dev/null, see spawnClean) as empty lists of arguments. */
export function closingArguments(stray: readonly number[]): string[] {
	return stray.flatMap((descriptor) => ["--args", String(descriptor)]);
}

/** The command that holds a sandbox, under the sandbox's own user id, for the supervisor to run in its control groups. */
export function holderCommand(
	programs: Programs,
	record: BwrapRecord,
	directory: string,
	stray: readonly number[],
): string[] {
	const folders = sandboxFolders(directory);
	const size = String(tmpfsBytes(record.resources));
	const bwrap = [
		programs.bwrap,
		"--die-with-parent",
		...["--unshare-user", "--uid", "0", "--gid", "0"],
		...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
		...(record.network === "deny" ? ["--unshare-net"] : []),
		...["--cap-drop", "ALL", "--new-session", "--hostname", record.sandbox_id],
		...systemArguments(HOLDER_DESCRIPTORS.files, record.network === "allow" ? folders.resolvers : undefined),
		...["--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
		...["--proc", "/proc"],
		...["--perms", "1777", "--size", size, "--tmpfs", "/tmp"],
		...["--size", String(RUN_BYTES), "--tmpfs", "/run", "--dir", "/run/secrets"],
		...["--ro-bind", folders.control, "/run/sbx"],
		...["--size", size, "--tmpfs", HOME],
		...[record.access === "ro" ? "--ro-bind" : "--bind", folders.workspace, "/workspace"],
		...["--remount-ro", "/", "--chdir", "/workspace", "--clearenv"],
		...Object.entries(INSIDE_ENVIRONMENT).flatMap(([name, value]) => ["--setenv", name, value]),
		...["--seccomp", String(HOLDER_DESCRIPTORS.filter), "--info-fd", String(HOLDER_DESCRIPTORS.info)],
		...closingArguments(stray),
		...["sh", "-c", "echo ready >&4; exec 4>&- 3>&-; exec sleep infinity"],
	];
	// One byte: a core pattern that is a pipe ignores 0, and its handler runs as root of the machine.
	return [programs.prlimit, "--core=1:1", ...becomeWords(programs, record.own_uid), ...bwrap];
}
