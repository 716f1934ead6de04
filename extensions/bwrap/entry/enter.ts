import { closeSync, openSync } from "node:fs";
import { SandboxerError } from "../../../provider/errors";
import { ProcessTable } from "../../../provider/identity";
import { type RunResult, run, strayDescriptors } from "../../../provider/transport";
import { closingArguments, INSIDE_ENVIRONMENT, joinArguments, sandboxFolders } from "../holder/command";
import { isBounded, PIDS_MAX } from "../limits/cgroup";
import type { Programs } from "../preflight";
import type { BwrapRecord } from "../record";

/** Exit code of an entry that found another sandbox, or another life of it, than it was sent to. */
export const WRONG_SANDBOX = 125;

/** Descriptor of the seccomp filter in the entry's command. */
const FILTER = 3;

export interface EnterOptions {
	readonly programs: Programs;
	readonly record: BwrapRecord;
	readonly directory: string;
	readonly command: readonly string[];
	readonly signal: AbortSignal;
	readonly timeoutSeconds: number;
}

/**
 * Runs a command in the sandbox with its whole confinement: joining namespaces alone brings neither the
 * limits, nor the filter, nor the loss of capabilities. The command is a process tree of its own (its
 * own pid namespace inside the sandbox's) that ends with it. Id and generation are read again inside,
 * before the command: a process number that was handed out anew leads nowhere.
 */
export async function enter({
	programs,
	record,
	directory,
	command,
	signal,
	timeoutSeconds,
}: EnterOptions): Promise<RunResult> {
	assertMayEnter(record);
	const filter = openSync(sandboxFolders(directory).filter, "r");
	try {
		const stray = strayDescriptors(FILTER);
		const above = stray.filter((descriptor) => descriptor > FILTER);
		const [program = "", ...args] = entryCommand(programs, record, command, above);
		return await run(program, args, {
			env: { PATH: INSIDE_ENVIRONMENT.PATH },
			signal,
			timeoutSeconds,
			descriptors: [filter],
			stray,
		});
	} finally {
		closeSync(filter);
	}
}

/** Only the user that made a sandbox may enter it, or root, which becomes the sandbox's own user. */
function assertMayEnter(record: BwrapRecord): void {
	const uid = process.getuid?.();
	if (uid !== 0 && uid !== record.maker_uid) {
		throw new SandboxerError({
			code: "conflict",
			message: `Sandbox ${record.sandbox_id} was made by user id ${record.maker_uid}; user id ${uid} may not enter it.`,
			hint: "Run as that user, or as root.",
		});
	}
	if (record.init === undefined || !new ProcessTable().isAlive(record.init)) {
		throw new SandboxerError({
			code: "remains",
			message: `Sandbox ${record.sandbox_id} does not run any more.`,
			hint: "pulumi refresh, then pulumi up, makes it again.",
		});
	}
}

/**
 * The command line that enters, to be started by this very process: its end, groups, limits, user, namespaces,
 * the check inside, the confinement, the command.
 */
export function entryCommand(
	programs: Programs,
	record: BwrapRecord,
	command: readonly string[],
	stray: readonly number[],
): string[] {
	const user = record.own_uid ?? (process.getuid?.() === 0 && record.maker_uid !== 0 ? record.maker_uid : undefined);
	const endWithParent = ["--pdeathsig", "KILL"];
	// Another user's process loses the signal, and is given it anew.
	const become =
		user === undefined
			? []
			: [programs.setpriv, "--reuid", String(user), "--regid", String(user), "--clear-groups", ...endWithParent];
	// Whoever entered may have gone before the signal was asked for. Where memory is short, a command is
	// killed before the process that holds the sandbox.
	const begin = `[ "$PPID" = ${process.pid} ] || exit 1; echo 1000 >/proc/self/oom_score_adj; `;
	const environment = Object.entries(INSIDE_ENVIRONMENT).flatMap(([name, value]) => ["--setenv", name, value]);
	// /proc/self leads nowhere for a process that is in another pid namespace than the sandbox's.
	const check = `[ -e /proc/self ] && read -r i g </run/sbx/id && [ "$i $g" = "$0" ] || exit ${WRONG_SANDBOX}; exec "$@"`;
	return [
		...[programs.setpriv, ...endWithParent],
		...joinArguments(programs, record.cgroups, begin),
		...[programs.prlimit, "--core=1:1", ...rlimits(record), ...become],
		...[
			programs.nsenter,
			"-t",
			String(record.init?.pid),
			"-U",
			"-m",
			"-p",
			"-i",
			"-u",
			// Under allow it is the machine's own: joining that needs rights over the machine.
			...(record.network === "deny" ? ["-n"] : []),
			"-C",
			"-r",
			"-w",
			"--preserve-credentials",
		],
		...["setpriv", ...endWithParent, "sh", "-c", check, `${record.sandbox_id} ${record.generation}`],
		...[
			"bwrap",
			"--dev-bind",
			"/",
			"/",
			"--unshare-pid",
			"--proc",
			"/proc",
			"--remount-ro",
			"/proc",
			"--cap-drop",
			"ALL",
		],
		...[
			"--die-with-parent",
			"--new-session",
			"--seccomp",
			String(FILTER),
			...closingArguments(stray),
			"--clearenv",
			...environment,
			"--chdir",
			"/workspace",
			"--",
		],
		...command,
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
