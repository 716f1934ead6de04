import { readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { alteredLimits } from "../limits/cgroup";
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

export async function outsideFacts(record: BwrapRecord): Promise<OutsideFacts> {
	const pid = record.init?.pid ?? 0;
	const filtersHere = Number((await readStatus("self")).get("Seccomp_filters") ?? 0);
	const [status, namespaces, here, limits, environment, altered, outside] = await Promise.all([
		settledStatus(pid, filtersHere),
		readNamespaces(pid),
		readNamespaces("self"),
		readFile(`/proc/${pid}/limits`, "utf8"),
		readFile(`/proc/${pid}/environ`, "utf8"),
		alteredLimits(record.cgroups, record.resources),
		groupsWithout(pid, record.cgroups),
	]);
	return {
		uid: Number(/^\d+/.exec(status.get("Uid") ?? "")?.[0]),
		sharedNamespaces: NAMESPACES.filter((kind) => namespaces.get(kind) === here.get(kind)),
		namespaces,
		status,
		filtersHere,
		limits: new Map(limits.split("\n").flatMap(parseLimit)),
		environment: environment.split("\0").flatMap((line) => (line === "" ? [] : [line.split("=")[0] ?? ""])),
		endsWithSupervisor: await endsWith(Number(status.get("PPid")), record.supervisor?.pid),
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
		const status = await readStatus(pid);
		if (isFiltered(status, filtersHere) || performance.now() >= deadline) return status;
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

/** This process may be under a filter itself, which a sandbox inherits. Linux before 5.9 does not count them. */
export function isFiltered(status: ReadonlyMap<string, string>, filtersHere: number): boolean {
	return status.get("Seccomp") === "2" && Number(status.get("Seccomp_filters") ?? filtersHere + 1) > filtersHere;
}

async function readStatus(pid: number | "self"): Promise<ReadonlyMap<string, string>> {
	const lines = (await readFile(`/proc/${pid}/status`, "utf8")).split("\n");
	return new Map(lines.map((line) => splitOnce(line, ":")));
}

async function readNamespaces(pid: number | "self"): Promise<ReadonlyMap<string, string>> {
	const links = NAMESPACES.map(async (kind) => [kind, await readlink(`/proc/${pid}/ns/${kind}`)] as const);
	return new Map(await Promise.all(links));
}

async function endsWith(bwrap: number, supervisor: number | undefined): Promise<boolean> {
	const [words, status] = await Promise.all([readFile(`/proc/${bwrap}/cmdline`, "utf8"), readStatus(bwrap)]);
	return Number(status.get("PPid")) === supervisor && words.split("\0").includes("--die-with-parent");
}

async function groupsWithout(pid: number, cgroups: BwrapRecord["cgroups"]): Promise<string[]> {
	const missing = await Promise.all(
		cgroups.map(async ({ folder }) => {
			const members = await readFile(join(folder, "cgroup.procs"), "utf8").catch(() => "");
			return members.split("\n").includes(String(pid)) ? [] : [folder];
		}),
	);
	return missing.flat();
}
