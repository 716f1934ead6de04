import type { Control, Controls } from "../../../provider/contract";
import { SandboxerError } from "../../../provider/errors";
import { idleVerdict } from "../idle/idle-limit";
import { PIDS_MAX } from "../limits/cgroup";
import type { BwrapRecord } from "../record";
import { type Check, insideChecks, outsideChecks } from "./checks";
import type { InsideFacts } from "./inside-facts";
import type { OutsideFacts } from "./outside-facts";

/**
 * Holds what the probes saw against what the profile promises.
 *
 * @throws SandboxerError `control`, with everything that does not hold.
 */
export function judge(
	record: BwrapRecord,
	inside: InsideFacts,
	outside: OutsideFacts,
	further: readonly Check[] = [],
): Controls {
	const checks = [...outsideChecks(record, outside), ...insideChecks(record, inside, outside), ...further];
	const failed = checks.filter(({ holds }) => !holds);
	if (failed.length > 0)
		throw broken(record, `does not keep what its profile promises: ${failed.map(saying).join("; ")}`, failed);
	return verdicts(record);
}

/** A sandbox into which the probe could not be entered; what does not hold of it as seen from outside is told too. */
export function notProbed(record: BwrapRecord, why: string, outside: OutsideFacts): SandboxerError {
	const failed = outsideChecks(record, outside).filter(({ holds }) => !holds);
	return broken(record, [`could not be probed: ${why}`, ...failed.map(saying)].join("; "), failed);
}

function broken({ sandbox_id }: BwrapRecord, what: string, failed: readonly Check[]): SandboxerError {
	return new SandboxerError({
		code: "control",
		message: `Sandbox ${sandbox_id} ${what}.`,
		hint: "It was not handed out. This machine, or the bwrap on it, behaves otherwise than ext.bwrap relies on: see extensions/bwrap/README.md.",
		details: { sandbox_id, failed: failed.map(({ control }) => control) },
	});
}

function saying({ control, failed }: Check): string {
	return `${control}: ${failed}`;
}

function verdicts(record: BwrapRecord): Controls {
	const group = (controller: "memory" | "cpu" | "pids") =>
		record.cgroups.find((candidate) => candidate.controller === controller || candidate.controller === "all");
	const { cpu, memory_mb } = record.resources;
	const enforced = (note: string): Control => ({ status: "enforced", note });
	const gaps = (note: string): Control => ({ status: "enforced-with-gaps", note });
	const unsupported = (note: string): Control => ({ status: "unsupported", note });
	return {
		isolation: enforced("own namespaces, no capabilities, own user id"),
		filesystem: enforced(`read-only system, workspace ${record.access}`),
		syscalls: enforced("seccomp filter"),
		network:
			record.network === "deny"
				? enforced("own loopback only")
				: gaps("the host's loopback and abstract sockets are reachable"),
		lease: enforced("supervisor on the host"),
		idle: idleVerdict(record) ?? unsupported("the profile sets no limit"),
		memory:
			memory_mb === undefined
				? unsupported("the profile sets no limit")
				: group("memory") === undefined
					? gaps(`${memory_mb} MiB a process and a quarter of it a tmpfs, not in sum: no control group`)
					: enforced(`${memory_mb} MiB by control group`),
		cpu: cpu === undefined ? unsupported("the profile sets no limit") : enforced(`${cpu} by control group`),
		pids:
			group("pids") === undefined ? gaps(`${PIDS_MAX} a command, by rlimit`) : enforced(`${PIDS_MAX} by control group`),
		disk: unsupported("the workspace has no size limit"),
	};
}
