import type { Control, Controls } from "../../../provider/contract";
import { SandboxerError } from "../../../provider/errors";
import { INSIDE_ENVIRONMENT } from "../holder/command";
import { HOME } from "../holder/system-files";
import { PIDS_MAX } from "../limits/cgroup";
import type { BwrapRecord } from "../record";
import type { InsideFacts } from "./inside-facts";
import type { OutsideFacts } from "./outside-facts";

/** One thing that must hold. `failed` says what was seen instead. */
interface Check {
	readonly control: string;
	readonly holds: boolean;
	readonly failed: string;
}

/** Places that no process of a sandbox may write. */
export const FORBIDDEN_PLACES = [
	"/.sandboxer-probe",
	"/usr/.sandboxer-probe",
	"/etc/passwd",
	"/run/sbx/id",
	"/run/sbx/deadline",
	"/dev/.sandboxer-probe",
] as const;

/** Variables a shell sets itself. */
const OF_THE_SHELL = ["PWD", "OLDPWD", "SHLVL", "_"];

/**
 * Holds what the probes saw against what the profile promises.
 *
 * @throws SandboxerError `control`, with everything that does not hold.
 */
export function judge(record: BwrapRecord, inside: InsideFacts, outside: OutsideFacts): Controls {
	const failed = checks(record, inside, outside).filter(({ holds }) => !holds);
	if (failed.length > 0) {
		throw new SandboxerError({
			code: "control",
			message: `Sandbox ${record.sandbox_id} does not keep what its profile promises: ${failed.map((check) => `${check.control}: ${check.failed}`).join("; ")}.`,
			hint: "It was not handed out. This machine, or the bwrap on it, behaves otherwise than ext.bwrap relies on: see extensions/bwrap/README.md.",
			details: { sandbox_id: record.sandbox_id, failed: failed.map(({ control }) => control) },
		});
	}
	return verdicts(record);
}

function checks(record: BwrapRecord, inside: InsideFacts, outside: OutsideFacts): Check[] {
	const status = (name: string) => inside.status.get(name);
	const forbidden = inside.writable.filter((place) => place !== "/workspace");
	const shared = outside.sharedNamespaces.filter((kind) => !(kind === "net" && record.network === "allow"));
	const strangers = inside.there.filter((path) => path !== HOME && !path.startsWith("/proc/"));
	const names = inside.environment.filter((name) => !(name in INSIDE_ENVIRONMENT) && !OF_THE_SHELL.includes(name));
	const groups = [...inside.cgroups].filter(([controller, path]) => isHeldBy(record, controller) && path !== "/");
	return [
		{ control: "probe", holds: inside.complete, failed: "the probe inside did not come to its end" },
		{ control: "isolation", holds: outside.uid !== 0, failed: "it runs as uid 0 of this machine" },
		{
			control: "isolation",
			holds: shared.length === 0,
			failed: `it shares the ${shared.join(", ")} namespace of this machine`,
		},
		{
			control: "isolation",
			holds: /^0+$/.test(status("CapEff") ?? ""),
			failed: `capabilities inside are ${status("CapEff") ?? "unknown"}`,
		},
		{ control: "isolation", holds: status("NoNewPrivs") === "1", failed: "no_new_privs is not set" },
		{ control: "isolation", holds: inside.terminal === "0", failed: "a terminal of this machine is attached" },
		{
			control: "isolation",
			holds: inside.coreLimit === "1",
			failed: `the core limit is ${inside.coreLimit ?? "unknown"}, so a core pipe would run on the host`,
		},
		{
			control: "isolation",
			holds: names.length === 0,
			failed: `foreign variables in the environment: ${names.join(", ")}`,
		},
		{ control: "syscalls", holds: status("Seccomp") === "2", failed: "no seccomp filter is in force" },
		{ control: "syscalls", holds: !inside.makesUserNamespaces, failed: "a user namespace could be made inside" },
		{
			control: "filesystem",
			holds: forbidden.length === 0,
			failed: `writable inside: ${forbidden.slice(0, 5).join(", ")}`,
		},
		{ control: "filesystem", holds: has(inside, "/proc", "ro"), failed: "/proc is writable" },
		{
			control: "filesystem",
			holds: inside.writable.includes("/workspace") === (record.access === "rw"),
			failed: `/workspace is not ${record.access}`,
		},
		{ control: "filesystem", holds: strangers.length === 0, failed: `foreign folders: ${strangers.join(", ")}` },
		{
			control: "network",
			holds: record.network === "allow" || inside.interfaces.every((name) => name === "lo"),
			failed: `network deny, but there is ${inside.interfaces.join(", ")}`,
		},
		{
			control: "lease",
			holds: outside.endsWithSupervisor,
			failed: "it would outlive its supervisor, and so its deadline",
		},
		...["/tmp", "/dev/shm", HOME, "/run"].map((point) => ({
			control: "memory",
			holds: isSized(inside, point),
			failed: `${point} has no size limit`,
		})),
		{
			control: "limits",
			holds: outside.cgroupFaults.length === 0,
			failed: `control groups: ${outside.cgroupFaults.join(", ")}`,
		},
		{
			control: "limits",
			holds: groups.length === 0,
			failed: `a command inside is outside the group of ${groups.map(([controller]) => controller).join(", ")}`,
		},
	];
}

function has(inside: InsideFacts, point: string, option: string): boolean {
	return inside.mounts.get(point)?.includes(option) ?? false;
}

/** tmpfs without a size takes half of the machine's memory, and mountinfo then shows none. */
function isSized(inside: InsideFacts, point: string): boolean {
	return inside.mounts.get(point)?.some((option) => option.startsWith("size=")) ?? false;
}

function isHeldBy(record: BwrapRecord, controller: string): boolean {
	return record.cgroups.some((group) =>
		group.controller === "all" ? controller === "" : group.controller === controller,
	);
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
		memory:
			memory_mb === undefined
				? unsupported("the profile sets no limit")
				: group("memory") === undefined
					? gaps(`${memory_mb} MiB a process and a tmpfs, not in sum: no control group`)
					: enforced(`${memory_mb} MiB by control group`),
		cpu: cpu === undefined ? unsupported("the profile sets no limit") : enforced(`${cpu} by control group`),
		pids:
			group("pids") === undefined ? gaps(`${PIDS_MAX} a command, by rlimit`) : enforced(`${PIDS_MAX} by control group`),
		disk: unsupported("the workspace has no size limit"),
	};
}
