import { readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { alteredLimits } from "../limits/cgroup";
import type { BwrapRecord } from "../record";

/** What this machine sees of a sandbox from outside. */
export interface OutsideFacts {
	/** The user id of pid 1 of the sandbox, as the machine counts. */
	readonly uid: number;
	/** Kinds of namespace that the sandbox shares with this process. */
	readonly sharedNamespaces: readonly string[];
	/** The running bwrap ends with its supervisor: its own argument vector says so, and its parent is the supervisor. */
	readonly endsWithSupervisor: boolean;
	/** Groups that pid 1 of the sandbox is not in, and limits that differ. */
	readonly cgroupFaults: readonly string[];
}

const NAMESPACES = ["user", "mnt", "pid", "ipc", "uts", "net", "cgroup"] as const;

export async function outsideFacts(record: BwrapRecord): Promise<OutsideFacts> {
	const pid = record.init?.pid ?? 0;
	const status = await processStatus(pid);
	const [shared, endsWithSupervisor, altered, outside] = await Promise.all([
		sharedNamespaces(pid),
		endsWith(status.parent, record.supervisor?.pid),
		alteredLimits(record.cgroups, record.resources),
		groupsWithout(pid, record.cgroups),
	]);
	return {
		uid: status.uid,
		sharedNamespaces: shared,
		endsWithSupervisor,
		cgroupFaults: [...outside.map((folder) => `not in ${folder}`), ...altered],
	};
}

async function processStatus(pid: number): Promise<{ uid: number; parent: number }> {
	const text = await readFile(`/proc/${pid}/status`, "utf8");
	return { uid: Number(/^Uid:\s+(\d+)/m.exec(text)?.[1]), parent: Number(/^PPid:\s+(\d+)/m.exec(text)?.[1]) };
}

async function sharedNamespaces(pid: number): Promise<string[]> {
	const same = await Promise.all(
		NAMESPACES.map(async (kind) => {
			const [inside, here] = await Promise.all([
				readlink(`/proc/${pid}/ns/${kind}`),
				readlink(`/proc/self/ns/${kind}`),
			]);
			return inside === here ? [kind] : [];
		}),
	);
	return same.flat();
}

async function endsWith(bwrap: number, supervisor: number | undefined): Promise<boolean> {
	const [words, { parent }] = await Promise.all([readFile(`/proc/${bwrap}/cmdline`, "utf8"), processStatus(bwrap)]);
	return parent === supervisor && words.split("\0").includes("--die-with-parent");
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
