import { INSIDE_ENVIRONMENT, RUN_BYTES, tmpfsBytes } from "../holder/command";
import { HOME } from "../holder/system-files";
import { isBounded, PIDS_MAX } from "../limits/cgroup";
import type { BwrapRecord } from "../record";
import type { InsideFacts } from "./inside-facts";
import { isFiltered, type OutsideFacts } from "./outside-facts";

/** One thing that must hold. `failed` says what was seen instead. */
export interface Check {
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

/** bwrap's own devices. */
const DEVICES = ["pts", "console", "null", "zero", "full", "random", "urandom", "tty"].map((name) => `/dev/${name}`);
/** Mounts that are not read-only: private ones, and devices. */
const WRITABLE_MOUNTS = ["/tmp", "/run", HOME, "/dev/shm", ...DEVICES];
/** First part of every mount point. */
const MOUNTS = [
	"",
	"usr",
	"bin",
	"sbin",
	"lib",
	"lib32",
	"lib64",
	"etc",
	"dev",
	"proc",
	"tmp",
	"run",
	"home",
	"workspace",
];

/** Variables a shell sets itself. */
const OF_THE_SHELL = ["PWD", "OLDPWD", "SHLVL", "_"];

/** Namespaces that a command shares with the sandbox; its mounts and processes are its own. */
const JOINED = ["user", "ipc", "uts", "net", "cgroup"] as const;
const OWN = ["mnt", "pid"] as const;

/** What must hold of a sandbox and of its first process, as this machine sees it. */
export function outsideChecks(record: BwrapRecord, outside: OutsideFacts): Check[] {
	const uid = record.own_uid ?? record.maker_uid;
	const bounding = outside.status.get("CapBnd") ?? "unknown";
	const ofMachine = outside.sharedNamespaces.filter((kind) => !(kind === "net" && record.network === "allow"));
	return [
		...isolation(
			{
				holds: uid !== 0 && outside.uid === uid,
				failed: `it runs as uid ${outside.uid} of this machine, not as ${uid === 0 ? "one of its own" : uid}`,
			},
			{ holds: /^0+$/.test(bounding), failed: `its first process may get the capabilities ${bounding}` },
			{
				holds: outside.status.get("NSsid")?.split(/\s+/)[0] === String(record.init?.pid),
				failed: "its first process is in a session of this machine",
			},
			...processChecks("of its first process", outside),
		),
		...ofMachine.map((kind) => ({
			control: controlOf(kind),
			holds: false,
			failed: `it shares the ${kind} namespace of this machine`,
		})),
		{
			control: "lease",
			holds: outside.endsWithSupervisor,
			failed: "it would outlive its supervisor, and so its deadline (--die-with-parent)",
		},
		{
			control: "syscalls",
			holds: isFiltered(outside.status, outside.filtersHere),
			failed: "no seccomp filter is in force on its first process",
		},
		{
			control: "limits",
			holds: outside.cgroupFaults.length === 0,
			failed: `control groups: ${outside.cgroupFaults.join(", ")}`,
		},
	];
}

/** What must hold of a command that was entered into a sandbox. */
export function insideChecks(record: BwrapRecord, inside: InsideFacts, outside: OutsideFacts): Check[] {
	const strays = inside.descriptors.filter((descriptor) => descriptor > 2);
	return [
		{
			control: "probe",
			holds: inside.complete,
			failed: "the probe inside did not see everything, or not come to its end",
		},
		...isolation(
			{
				holds: inside.status.get("NSpid")?.trim().split(/\s+/).length === 1,
				failed: "/proc inside shows other processes than a command's own",
			},
			{ holds: inside.terminal === "0", failed: "a terminal of this machine is attached" },
			{ holds: (inside.session ?? "0") !== "0", failed: "a command is in a session that began on this machine" },
			{ holds: strays.length === 0, failed: `foreign descriptors are open inside: ${strays.join(", ")}` },
			...processChecks("inside", inside),
		),
		...namespaceChecks(inside, outside),
		{
			control: "network",
			holds: record.network === "allow" || inside.interfaces.every((name) => name === "lo"),
			failed: `network deny, but there is ${inside.interfaces.join(", ")}`,
		},
		{
			control: "lease",
			holds: inside.endsWithCaller,
			failed: "a command would outlive whoever entered (--die-with-parent)",
		},
		{
			control: "syscalls",
			holds: isFiltered(inside.status, outside.filtersHere),
			failed: "no seccomp filter is in force",
		},
		{ control: "syscalls", holds: !inside.makesUserNamespaces, failed: "a user namespace was not refused inside" },
		...fileChecks(record, inside),
		...limitChecks(record, inside),
	];
}

function isolation(...found: readonly Omit<Check, "control">[]): Check[] {
	return found.map((check) => ({ control: "isolation", ...check }));
}

type ProcessFacts = Pick<OutsideFacts, "status" | "limits" | "environment">;

function processChecks(who: string, { status, limits, environment }: ProcessFacts): Omit<Check, "control">[] {
	const capabilities = status.get("CapEff") ?? "unknown";
	const core = limits.get("Max core file size") ?? "unknown";
	const names = environment.filter((name) => !(name in INSIDE_ENVIRONMENT) && !OF_THE_SHELL.includes(name));
	return [
		{ holds: /^0+$/.test(capabilities), failed: `the capabilities ${who} are ${capabilities}` },
		{ holds: status.get("NoNewPrivs") === "1", failed: `no_new_privs ${who} is not set` },
		{ holds: core === "1", failed: `the core limit ${who} is ${core}, so a core pipe would run on the host` },
		{ holds: names.length === 0, failed: `foreign variables in the environment ${who}: ${names.join(", ")}` },
	];
}

function controlOf(namespace: string): string {
	return namespace === "net" ? "network" : "isolation";
}

function namespaceChecks(inside: InsideFacts, outside: OutsideFacts): Check[] {
	const isShared = (kind: string) => inside.namespaces.get(kind) === outside.namespaces.get(kind);
	return [
		...JOINED.map((kind) => ({
			control: controlOf(kind),
			holds: inside.namespaces.has(kind) && isShared(kind),
			failed: `a command inside is in another ${kind} namespace than the sandbox`,
		})),
		...OWN.map((kind) => ({
			control: "isolation",
			holds: inside.namespaces.has(kind) && !isShared(kind),
			failed: `a command inside has no ${kind} namespace of its own`,
		})),
	];
}

function fileChecks(record: BwrapRecord, inside: InsideFacts): Check[] {
	const forbidden = inside.writable.filter((place) => place !== "/workspace");
	const strangers = inside.there.filter((path) => path !== HOME && !path.startsWith("/proc/"));
	const mounts = [...inside.mounts];
	const writable = mounts.filter(
		([point, options]) => point !== "/workspace" && !WRITABLE_MOUNTS.includes(point) && !options.includes("ro"),
	);
	const foreign = mounts.filter(([point]) => !MOUNTS.includes(point.split("/", 2)[1] ?? ""));
	const privileged = mounts.filter(
		([point, options]) => !options.includes("nosuid") || !(options.includes("nodev") || DEVICES.includes(point)),
	);
	const points = (of: typeof mounts) => of.map(([point]) => point).join(", ");
	const readOnly = inside.mounts.get("/workspace")?.includes("ro");
	return [
		{ holds: forbidden.length === 0, failed: `writable inside: ${forbidden.slice(0, 5).join(", ")}` },
		{ holds: inside.mounts.has("/proc") && writable.length === 0, failed: `not read-only: ${points(writable)}` },
		{ holds: foreign.length === 0, failed: `foreign mounts: ${points(foreign)}` },
		{ holds: privileged.length === 0, failed: `mounts with devices or setuid files: ${points(privileged)}` },
		{
			holds:
				inside.writable.includes("/workspace") === (record.access === "rw") && readOnly === (record.access === "ro"),
			failed: `/workspace is not ${record.access}`,
		},
		{ holds: inside.mounts.get("/dev")?.includes("type=tmpfs") ?? false, failed: "/dev is that of this machine" },
		{ holds: strangers.length === 0, failed: `foreign folders: ${strangers.join(", ")}` },
	].map((check) => ({ control: "filesystem", ...check }));
}

function limitChecks(record: BwrapRecord, inside: InsideFacts): Check[] {
	const groups = [...inside.cgroups].filter(([controller, path]) => isHeldBy(record, controller) && path !== "/");
	const bytes = tmpfsBytes(record.resources);
	const sizes: [string, number][] = [
		["/tmp", bytes],
		["/dev/shm", bytes],
		[HOME, bytes],
		["/run", RUN_BYTES],
	];
	const memory = (record.resources.memory_mb ?? 0) * 1024 * 1024;
	const rlimits: [string, boolean, number][] = [
		["Max processes", !isBounded(record, "pids"), PIDS_MAX],
		["Max data size", !isBounded(record, "memory") && memory > 0, memory],
	];
	return [
		...sizes.map(([point, most]) => ({
			control: "memory",
			holds: sizeOf(inside, point) <= most,
			failed: `${point} has no size limit, or a larger one than ${most / 1024} KiB`,
		})),
		{
			control: "limits",
			holds: groups.length === 0,
			failed: `a command inside is outside the group of ${groups.map(([controller]) => controller).join(", ")}`,
		},
		...rlimits
			.filter(([, asked]) => asked)
			.map(([name, , most]) => ({
				control: "limits",
				holds: Number(inside.limits.get(name)) <= most,
				failed: `${name} is ${inside.limits.get(name) ?? "unknown"} instead of ${most}, and no control group bounds it`,
			})),
	];
}

/** In bytes. tmpfs without a size takes half of the machine's memory, and mountinfo then shows none. */
function sizeOf(inside: InsideFacts, point: string): number {
	const kib = inside.mounts
		.get(point)
		?.map((option) => /^size=(\d+)k$/.exec(option)?.[1])
		.find(Boolean);
	return kib === undefined ? Number.POSITIVE_INFINITY : Number(kib) * 1024;
}

function isHeldBy(record: BwrapRecord, controller: string): boolean {
	return record.cgroups.some((group) =>
		group.controller === "all" ? controller === "" : group.controller === controller,
	);
}
