import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { SandboxerError } from "../../../provider/errors";
import { ProcessTable } from "../../../provider/identity";
import { type RunResult, run } from "../../../provider/transport";
import { INSIDE_ENVIRONMENT, joinArguments } from "../holder/command";
import { PIDS_MAX } from "../limits/cgroup";
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
	const filter = openSync(join(directory, "filter"), "r");
	try {
		const [program = "", ...args] = entryCommand(programs, record, command);
		return await run(program, args, {
			env: { PATH: INSIDE_ENVIRONMENT.PATH },
			signal,
			timeoutSeconds,
			descriptors: [filter],
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

/** The command line that enters: groups, limits, user, namespaces, the check inside, the confinement, the command. */
export function entryCommand(programs: Programs, record: BwrapRecord, command: readonly string[]): string[] {
	const user = record.own_uid ?? (process.getuid?.() === 0 && record.maker_uid !== 0 ? record.maker_uid : undefined);
	const become = user === undefined ? [] : ["--reuid", String(user), "--regid", String(user), "--clear-groups"];
	const environment = Object.entries(INSIDE_ENVIRONMENT).flatMap(([name, value]) => ["--setenv", name, value]);
	const check = `read -r i g </run/sbx/id && [ "$i $g" = "$0" ] || exit ${WRONG_SANDBOX}; exec "$@"`;
	return [
		...joinArguments(programs, record.cgroups),
		...[programs.prlimit, "--core=1:1", ...rlimits(record)],
		...[programs.setpriv, "--pdeathsig", "KILL", ...become],
		...[
			programs.nsenter,
			"-t",
			String(record.init?.pid),
			"-U",
			"-m",
			"-p",
			"-i",
			"-u",
			"-n",
			"-C",
			"-r",
			"-w",
			"--preserve-credentials",
		],
		...["sh", "-c", check, `${record.sandbox_id} ${record.generation}`],
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
export function rlimits({ cgroups, resources }: BwrapRecord): string[] {
	const bounded = (controller: "pids" | "memory") =>
		cgroups.some((group) => group.controller === controller || group.controller === "all");
	const bytes = (resources.memory_mb ?? 0) * 1024 * 1024;
	return [
		...(bounded("pids") ? [] : [`--nproc=${PIDS_MAX}:${PIDS_MAX}`]),
		...(bounded("memory") || bytes === 0 ? [] : [`--data=${bytes}:${bytes}`]),
	];
}
