import type { Command } from "../../../provider/contract";
import { closingArguments, joinArguments } from "../holder/command";
import { isBounded, PIDS_MAX } from "../limits/cgroup";
import type { Programs } from "../preflight";
import type { BwrapRecord } from "../record";

/** Exit code of an entry that found another sandbox, or another life of it, than it was sent to. */
export const WRONG_SANDBOX = 125;

/** Descriptors of an entry, by number; one for each secret file follows. */
export const ENTRY_DESCRIPTORS = { filter: 3, arguments: 4, gate: 5, firstFile: 6 } as const;

/** Who a command is inside where it is not root; stands in the /etc/passwd of every sandbox. */
const UID_INSIDE = "1000";

/** The user of this machine that an entry becomes; `undefined` where it stays who it is. */
export function entryUser({ own_uid, maker_uid }: BwrapRecord): number | undefined {
	return own_uid ?? (process.getuid?.() === 0 && maker_uid !== 0 ? maker_uid : undefined);
}

/**
 * The command line that enters, to be started by this very process: its end, groups, limits, user, namespaces,
 * the check inside, the confinement, the gate, the command.
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
	const endWithParent = ["--pdeathsig", "KILL"];
	// Another user's process loses the signal, and is given it anew.
	const become =
		becomes === undefined
			? []
			: [programs.setpriv, "--reuid", String(becomes), "--regid", String(becomes), "--clear-groups", ...endWithParent];
	// Whoever entered may have gone before the signal was asked for. Where memory is short, a command is
	// killed before the process that holds the sandbox.
	const begin = `[ "$PPID" = ${process.pid} ] || exit 1; echo 1000 >/proc/self/oom_score_adj; `;
	// /proc/self leads nowhere for a process that is in another pid namespace than the sandbox's.
	const check = `[ -e /proc/self ] && read -r i g </run/sbx/id && [ "$i $g" = "$0" ] || exit ${WRONG_SANDBOX}; exec "$@"`;
	return [
		...[programs.setpriv, ...endWithParent],
		...joinArguments(programs, record.cgroups, begin),
		...[programs.prlimit, "--core=1:1", ...rlimits(record), ...become],
		...[programs.nsenter, "-t", String(record.init?.pid), "-U", "-m", "-p", "-i", "-u"],
		// Under allow it is the machine's own: joining that needs rights over the machine.
		...(record.network === "deny" ? ["-n"] : []),
		...["-C", "-r", "-w", "--preserve-credentials"],
		// No signal at the end of the parent here: bwrap asks for it itself, as the last thing before it lets its child
		// go on. Ended earlier it would leave that child waiting, for as long as the sandbox lives.
		...["sh", "-c", check, `${record.sandbox_id} ${record.generation}`],
		...["bwrap", "--dev-bind", "/", "/"],
		...(user === "root" ? [] : ["--unshare-user", "--uid", UID_INSIDE, "--gid", UID_INSIDE]),
		...["--unshare-pid", "--proc", "/proc", "--remount-ro", "/proc", "--cap-drop", "ALL"],
		...["--die-with-parent", "--new-session", "--seccomp", String(ENTRY_DESCRIPTORS.filter)],
		...[...closingArguments(stray), "--clearenv", "--args", String(ENTRY_DESCRIPTORS.arguments)],
		// By its path: the PATH is the command's own.
		...["--", "/bin/sh", "-c", gate, String(ENTRY_DESCRIPTORS.gate), ...argv],
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
