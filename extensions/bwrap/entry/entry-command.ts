import type { Command } from "../../../provider/contract";
import { shellWord } from "../../../provider/transport";
import { closingArguments } from "../holder/command";
import { isBounded, joinText, PIDS_MAX } from "../limits/cgroup";
import { becomeOptions } from "../own-uid";
import type { Programs } from "../preflight";
import type { BwrapRecord } from "../record";

/** Descriptors of an entry, by number; one for each secret file follows. */
export const ENTRY_DESCRIPTORS = { filter: 3, arguments: 4, gate: 5, firstFile: 6 } as const;

/** Exit code of an entry that found another sandbox, or another life of it, than it was sent to. */
export const WRONG_SANDBOX = 125;
const CHECK = `[ -e /proc/self ] && read -r i g </run/sbx/id && [ "$i $g" = "$0" ] || exit ${WRONG_SANDBOX}; exec "$@"`;

/** Who a command is inside where it is not root; stands in the /etc/passwd of every sandbox. */
const UID_INSIDE = "1000";

/** The user of this machine that an entry becomes; `undefined` where it stays who it is. */
export function entryUser({ own_uid, maker_uid }: BwrapRecord): number | undefined {
	return own_uid ?? (process.getuid?.() === 0 && maker_uid !== 0 ? maker_uid : undefined);
}

/** What an entry is given beside the command. */
export interface Gatekeeping {
	/** The text of `gate.sh`. */
	readonly gate: string;
	/** How the command is filtered, see `gate.sh`. */
	readonly filtered: string;
	/** Descriptors that would be inherited. */
	readonly stray: readonly number[];
}

/**
 * The command line that enters, to be started by this very process: groups, then the pid of the sandbox's first
 * process, read from the gate; limits, user, the end with this process, namespaces, the check inside, the
 * confinement, the gate, the command.
 */
export function entryCommand(
	programs: Programs,
	record: BwrapRecord,
	{ argv, user }: Pick<Command, "argv" | "user">,
	{ gate, filtered, stray }: Gatekeeping,
): string[] {
	const enter = [
		...[programs.prlimit, "--core=1:1", ...rlimits(record)],
		// Asked for by the one that it is becoming: another user's process loses the signal.
		...[programs.setpriv, ...becomeOptions(entryUser(record)), "--pdeathsig", "KILL", programs.nsenter],
	];
	const script = [
		// Where memory is short, a command is killed before the process that holds the sandbox.
		"echo 1000 >/proc/self/oom_score_adj; ",
		joinText(record.cgroups),
		`read -r pid <&${ENTRY_DESCRIPTORS.gate} || exit 1; `,
		`exec ${enter.map(shellWord).join(" ")} -t "$pid" "$@"`,
	];
	return [
		...[programs.sh, "-c", script.join(""), "enter"],
		...["-U", "-m", "-p", "-i", "-u"],
		// Under allow it is the machine's own: joining that needs rights over the machine.
		...(record.network === "deny" ? ["-n"] : []),
		...["-C", "-r", "-w", "--preserve-credentials"],
		// /proc/self leads nowhere for a process that is in another pid namespace than the sandbox's.
		...["sh", "-c", CHECK, `${record.sandbox_id} ${record.generation}`],
		// No signal at the end of the parent here: bwrap asks for it itself, as the last thing before it lets its child
		// go on. Ended earlier it would leave that child waiting, for as long as the sandbox lives.
		...["bwrap", "--dev-bind", "/", "/"],
		...(user === "root" ? [] : ["--unshare-user", "--uid", UID_INSIDE, "--gid", UID_INSIDE]),
		...["--unshare-pid", "--proc", "/proc", "--remount-ro", "/proc", "--cap-drop", "ALL"],
		...["--die-with-parent", "--new-session", "--seccomp", String(ENTRY_DESCRIPTORS.filter)],
		...[...closingArguments(stray), "--clearenv", "--args", String(ENTRY_DESCRIPTORS.arguments)],
		// By its path: the PATH is the command's own.
		...["--", "/bin/sh", "-c", gate, filtered, ...argv],
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
