import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { alteredLimits } from "../limits/cgroup";
import { readIfThere } from "../limits/read-if-there";
import type { BwrapRecord } from "../record";
import { parseLimit, splitOnce } from "./inside-facts";

/** What this machine sees of a sandbox from outside. */
export interface OutsideFacts {
	/** The user id of pid 1 of the sandbox, as the machine counts. */
	readonly uid: number;
	/** Kinds of namespace that the sandbox shares with this process. */
	readonly sharedNamespaces: readonly string[];
	/** Kind → the sandbox's namespace, such as "net:[4026532258]". */
	readonly namespaces: ReadonlyMap<string, string>;
	/** Fields of pid 1's /proc/PID/status by name. */
	readonly status: ReadonlyMap<string, string>;
	/** How many filters lie on this very process: a sandbox's own comes on top of them. */
	readonly filtersHere: number;
	/** Hard limits of pid 1 by name. */
	readonly limits: ReadonlyMap<string, string>;
	/** Names of the variables that pid 1 was started with. */
	readonly environment: readonly string[];
	/** The running bwrap ends with its supervisor: its own argument vector says so, and its parent is the supervisor. */
	readonly endsWithSupervisor: boolean;
	/** Groups that pid 1 of the sandbox is not in, and limits that differ. */
	readonly cgroupFaults: readonly string[];
}

const NAMESPACES = ["user", "mnt", "pid", "ipc", "uts", "net", "cgroup"] as const;

/** How long the first process may take to filter itself. It takes milliseconds, on a busy machine more. */
const SETTLE_MS = 5_000;

/** Read at once: what the kernel tells takes microseconds, and less than a way to another thread and back. */
export async function outsideFacts(record: BwrapRecord): Promise<OutsideFacts> {
	const pid = record.init?.pid ?? 0;
	const filtersHere = Number(readStatus("self").get("Seccomp_filters") ?? 0);
	const status = await settledStatus(pid, filtersHere);
	const namespaces = readNamespaces(pid);
	const here = readNamespaces("self");
	const limits = readFileSync(`/proc/${pid}/limits`, "utf8");
	const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
	const altered = alteredLimits(record.cgroups, record.resources);
	const outside = groupsWithout(pid, record.cgroups);
	return {
		uid: Number(/^\d+/.exec(status.get("Uid") ?? "")?.[0]),
		sharedNamespaces: NAMESPACES.filter((kind) => namespaces.get(kind) === here.get(kind)),
		namespaces,
		status,
		filtersHere,
		limits: new Map(limits.split("\n").flatMap(parseLimit)),
		environment: environment.split("\0").flatMap((line) => (line === "" ? [] : [line.split("=")[0] ?? ""])),
		endsWithSupervisor: endsWith(Number(status.get("PPid")), record.supervisor?.pid),
		cgroupFaults: [...outside.map((folder) => `not in ${folder}`), ...altered],
	};
}

/**
 * bwrap starts the command first, and then its own first process gives up its rights and, last of all, filters
 * itself: the command can be heard before that.
 */
async function settledStatus(pid: number, filtersHere: number): Promise<ReadonlyMap<string, string>> {
	const deadline = performance.now() + SETTLE_MS;
	for (;;) {
		const status = readStatus(pid);
		if (isFiltered(status, filtersHere) || performance.now() >= deadline) return status;
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

/** This process may be under a filter itself, which a sandbox inherits. Linux before 5.9 does not count them. */
export function isFiltered(status: ReadonlyMap<string, string>, filtersHere: number): boolean {
	return status.get("Seccomp") === "2" && Number(status.get("Seccomp_filters") ?? filtersHere + 1) > filtersHere;
}

function readStatus(pid: number | "self"): ReadonlyMap<string, string> {
	const lines = readFileSync(`/proc/${pid}/status`, "utf8").split("\n");
	return new Map(lines.map((line) => splitOnce(line, ":")));
}

function readNamespaces(pid: number | "self"): ReadonlyMap<string, string> {
	return new Map(NAMESPACES.map((kind) => [kind, readlinkSync(`/proc/${pid}/ns/${kind}`)] as const));
}

function endsWith(bwrap: number, supervisor: number | undefined): boolean {
	const words = readFileSync(`/proc/${bwrap}/cmdline`, "utf8").split("\0");
	return Number(readStatus(bwrap).get("PPid")) === supervisor && words.includes("--die-with-parent");
}

function groupsWithout(pid: number, cgroups: BwrapRecord["cgroups"]): string[] {
	return cgroups
		.map(({ folder }) => folder)
		.filter((folder) => !(readIfThere(join(folder, "cgroup.procs")) ?? "").split("\n").includes(String(pid)));
}
