import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { basename, join, normalize } from "node:path";
import type { Profile } from "../../../provider/contract";
import { errnoOf, SandboxerError } from "../../../provider/errors";
import { shellWord } from "../../../provider/transport";
import { allDone } from "../all-done";
import type { BwrapRecord } from "../record";
import { type CgroupParents, findCgroupParents } from "./cgroup-parents";
import { readIfThere } from "./read-if-there";

/** Processes and threads a sandbox may have at once: the default of podman (containers.conf, pids_limit). */
export const PIDS_MAX = 2048;
/** The kernel's own default period of cpu bandwidth control, in microseconds. */
const CPU_PERIOD_US = 100_000;

type Resources = Profile["resources"];
export type Cgroup = BwrapRecord["cgroups"][number];
type Controller = Cgroup["controller"];

/** The groups a sandbox will have, by name only; nothing is made yet. Empty where no group can be made. */
export function planCgroups(name: string, resources: Resources): Cgroup[] {
	return wanted(resources, findCgroupParents()).map(({ controller, parent }) => ({
		controller,
		folder: join(parent, name),
	}));
}

function wanted(resources: Resources, parents: CgroupParents): { controller: Controller; parent: string }[] {
	if (parents.unified !== undefined) return [{ controller: "all", parent: parents.unified }];
	const controllers = [
		"pids",
		...(resources.memory_mb === undefined ? [] : ["memory"]),
		...(resources.cpu === undefined ? [] : ["cpu"]),
	] as const;
	return controllers.flatMap((controller) => {
		const parent = parents.perController[controller as "memory" | "cpu" | "pids"];
		return parent === undefined ? [] : [{ controller: controller as Controller, parent }];
	});
}

/** Whether a control group bounds it. */
export function isBounded({ cgroups }: BwrapRecord, controller: "memory" | "cpu" | "pids"): boolean {
	return cgroups.some((group) => group.controller === controller || group.controller === "all");
}

/** A file of a group, and what stands in it. `optional`: kernels without swap accounting lack it. */
interface LimitFile {
	readonly file: string;
	readonly value: string;
	readonly optional?: boolean;
}

/** The files of one group that hold its limits. */
export function limitFiles(controller: Controller, { cpu, memory_mb }: Resources): LimitFile[] {
	const bytes = memory_mb === undefined ? undefined : String(memory_mb * 1024 * 1024);
	const quota = cpu === undefined ? undefined : String(Math.max(1000, Math.round(cpu * CPU_PERIOD_US)));
	const pids = { file: "pids.max", value: String(PIDS_MAX) };
	switch (controller) {
		case "pids":
			return [pids];
		case "memory":
			return bytes === undefined
				? []
				: [
						{ file: "memory.limit_in_bytes", value: bytes },
						{ file: "memory.memsw.limit_in_bytes", value: bytes, optional: true },
					];
		case "cpu":
			return quota === undefined
				? []
				: [
						{ file: "cpu.cfs_period_us", value: String(CPU_PERIOD_US) },
						{ file: "cpu.cfs_quota_us", value: quota },
					];
		case "all":
			return [
				pids,
				...(bytes === undefined
					? []
					: [
							{ file: "memory.max", value: bytes },
							{ file: "memory.swap.max", value: "0", optional: true },
						]),
				...(quota === undefined ? [] : [{ file: "cpu.max", value: `${quota} ${CPU_PERIOD_US}` }]),
			];
	}
}

export function makeCgroups(cgroups: readonly Cgroup[], resources: Resources): Promise<void> {
	return allDone(cgroups.map((cgroup) => makeCgroup(cgroup, resources)));
}

async function makeCgroup({ controller, folder }: Cgroup, resources: Resources): Promise<void> {
	await mkdir(folder).catch((thrown: unknown) => {
		if (errnoOf(thrown) !== "EEXIST") throw thrown;
	});
	for (const { file, value, optional } of limitFiles(controller, resources)) {
		try {
			await writeFile(join(folder, file), value, { flag: "r+" });
		} catch (thrown) {
			if (optional === true && errnoOf(thrown) === "ENOENT") continue;
			throw new SandboxerError({
				code: "preflight",
				message: `The limit ${file}=${value} could not be set in ${folder} (${errnoOf(thrown) ?? String(thrown)}).`,
				hint: "Lower the profile's resources to what this machine has, or run where control groups can be made.",
				cause: thrown,
			});
		}
	}
}

/**
 * Text for sh(1): joins the groups, or ends. It needs the rights of whoever made them. A group of version 1 is joined
 * thread by thread, and a shell has one: for whole processes the kernel takes a lock of the whole machine, which lasts
 * 5 to 7 ms.
 */
export function joinText(cgroups: readonly Cgroup[]): string {
	const files = cgroups.map(({ controller, folder }) => join(folder, controller === "all" ? "cgroup.procs" : "tasks"));
	// 0 is whoever writes it.
	return files.map((file) => `echo 0 >${shellWord(file)} || exit 126; `).join("");
}

/** Limits that differ from what they were made with: `memory.max=max` and the like. */
export function alteredLimits(cgroups: readonly Cgroup[], resources: Resources): string[] {
	const altered: string[] = [];
	for (const { controller, folder } of cgroups) {
		for (const { file, value, optional } of limitFiles(controller, resources)) {
			const actual = readIfThere(join(folder, file));
			if (actual === undefined && optional === true) continue;
			if (actual?.trim() !== value) altered.push(`${file}=${actual?.trim() ?? "missing"}`);
		}
	}
	return altered;
}

/** Removes the groups once nothing is in them any more. What stays is returned. */
export async function removeCgroups(name: string, cgroups: readonly Cgroup[], timeoutMs: number): Promise<string[]> {
	const deadline = performance.now() + timeoutMs;
	const remains: string[] = [];
	for (const { folder } of cgroups) {
		if (basename(folder) !== name || normalize(folder) !== folder || !folder.startsWith("/sys/fs/cgroup/")) {
			remains.push(`control group ${folder} (not one of ours by its name: left alone)`);
			continue;
		}
		while (!(await removeGroup(folder))) {
			if (performance.now() >= deadline) {
				remains.push(`control group ${folder}`);
				break;
			}
			await new Promise((resolve) => setTimeout(resolve, 5));
		}
	}
	return remains;
}

/** Whether the group is gone. */
async function removeGroup(folder: string): Promise<boolean> {
	try {
		await rmdir(folder);
		return true;
	} catch (thrown) {
		const errno = errnoOf(thrown);
		if (errno === "ENOENT") return true;
		if (errno === "EBUSY" || errno === "ENOTEMPTY") return false;
		throw thrown;
	}
}
