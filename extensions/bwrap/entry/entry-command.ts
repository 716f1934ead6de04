import type { Command } from "../../../provider/contract";
import { closingArguments, joinArguments } from "../holder/command";
import { isBounded, PIDS_MAX } from "../limits/cgroup";
import type { Programs } from "../preflight";
import type { BwrapRecord } from "../record";

/** Descriptors of an entry, by number; one for each secret file follows. */
export const ENTRY_DESCRIPTORS = { filter: 3, arguments: 4, gate: 5, firstFile: 6 } as const;

/** Who a command is inside where it is not root; stands in the /etc/passwd of every sandbox. */
const UID_INSIDE = "1000";

/** The user of this machine that an entry becomes; `undefined` where it stays who it is. */
export function entryUser({ own_uid, maker_uid }: BwrapRecord): number | undefined {
	return own_uid ?? (process.getuid?.() === 0 && maker_uid !== 0 ? maker_uid : undefined);
}

/**
 * The command line that enters, to be started by this very process: groups, limits, user, the end with this
 * process, namespaces, the confinement, the gate, the command.
 *
 * @param gate - The text of `gate.sh`.
 */
export function entryCommand(
	programs: Programs,
	record: BwrapRecord,
	{ argv, user }: Pick<Command, "argv" | "user">,
	gate: string,
	stray: readonly number[],
): string[] {
	const becomes = entryUser(record);
	const become =
		becomes === undefined ? [] : ["--reuid", String(becomes), "--regid", String(becomes), "--clear-groups"];
	// Where memory is short, a command is killed before the process that holds the sandbox.
	const begin = "echo 1000 >/proc/self/oom_score_adj; ";
	return [
		...joinArguments(programs, record.cgroups, begin),
		...[programs.prlimit, "--core=1:1", ...rlimits(record)],
		// Asked for by the one that it is becoming: another user's process loses the signal.
		...[programs.setpriv, ...become, "--pdeathsig", "KILL"],
		...[programs.nsenter, "-t", String(record.init?.pid), "-U", "-m", "-p", "-i", "-u"],
		// Under allow it is the machine's own: joining that needs rights over the machine.
		...(record.network === "deny" ? ["-n"] : []),
		...["-C", "-r", "-w", "--preserve-credentials"],
		// No signal at the end of the parent here: bwrap asks for it itself, as the last thing before it lets its child
		// go on. Ended earlier it would leave that child waiting, for as long as the sandbox lives.
		...["bwrap", "--dev-bind", "/", "/"],
		...(user === "root" ? [] : ["--unshare-user", "--uid", UID_INSIDE, "--gid", UID_INSIDE]),
		...["--unshare-pid", "--proc", "/proc", "--remount-ro", "/proc", "--cap-drop", "ALL"],
		...["--die-with-parent", "--new-session", "--seccomp", String(ENTRY_DESCRIPTORS.filter)],
		...[...closingArguments(stray), "--clearenv", "--args", String(ENTRY_DESCRIPTORS.arguments)],
		// By its path: the PATH is the command's own.
		...["--", "/bin/sh", "-c", gate, `${record.sandbox_id} ${record.generation}`, ...argv],
	];
}

/** Where no control group bounds them: processes per user namespace, and private memory a process. */
export function rlimits(record: BwrapRecord): string[] {
	const bytes = (record.resources.memory_mb ?? 0) * 1024 * 1024;
	return [
		...(isBounded(record, "pids") ? [] : [`--nproc=${PIDS_MAX}:${PIDS_MAX}`]),
		...(isBounded(record, "memory") || bytes === 0 ? [] : [`--data=${bytes}:${bytes}`]),
	];
}
