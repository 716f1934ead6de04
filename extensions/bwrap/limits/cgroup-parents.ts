import { accessSync, constants, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readIfThere } from "./read-if-there";

/** Where groups for sandboxes can be made: one folder for all controllers (version 2), or one a controller (version 1). */
export interface CgroupParents {
	readonly unified: string | undefined;
	readonly perController: Readonly<Partial<Record<"memory" | "cpu" | "pids", string>>>;
}

const CONTROLLERS = ["memory", "cpu", "pids"] as const;

/**
 * Looks where control groups can be made, never assuming: version 2 if memory, cpu and pids are there and
 * can be handed to a child; else version 1, each controller below the caller's own group; else nowhere.
 */
export function findCgroupParents(proc = "/proc/self"): CgroupParents {
	const mounts = readFileSync(`${proc}/mountinfo`, "utf8").trim().split("\n").map(parseMount);
	const own = new Map(
		readFileSync(`${proc}/cgroup`, "utf8")
			.trim()
			.split("\n")
			.flatMap((line) => {
				const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
				return controllers.split(",").map((controller) => [controller, path] as const);
			}),
	);
	const unified = mounts.find(({ type }) => type === "cgroup2");
	if (unified !== undefined) {
		const parent = unifiedParent(unified, own.get("") ?? "/");
		if (parent !== undefined) return { unified: parent, perController: {} };
	}
	const perController: Partial<Record<"memory" | "cpu" | "pids", string>> = {};
	for (const controller of CONTROLLERS) {
		const mount = mounts.find(({ type, options }) => type === "cgroup" && options.includes(controller));
		if (mount === undefined) continue;
		const folder = below(mount, own.get(controller) ?? "/");
		if (isWritable(folder)) perController[controller] = folder;
	}
	return { unified: undefined, perController };
}

interface Mount {
	readonly root: string;
	readonly point: string;
	readonly type: string;
	readonly options: readonly string[];
}

/** A line of mountinfo(5): `36 35 98:0 /root /point rw shared:1 - type source options`. */
function parseMount(line: string): Mount {
	const [before = "", after = ""] = line.split(" - ");
	const [, , , root = "/", point = "/"] = before.split(" ");
	const [type = "", , options = ""] = after.split(" ");
	return { root, point, type, options: options.split(",") };
}

/** A group's folder: its path counts from the root of the hierarchy, the mount may begin further down. */
function below({ root, point }: Mount, path: string): string {
	return join(point, root !== "/" && (path === root || path.startsWith(`${root}/`)) ? path.slice(root.length) : path);
}

/** From the caller's own group upwards, the first whose children get all three controllers and that may be written. */
function unifiedParent(mount: Mount, own: string): string | undefined {
	for (let folder = below(mount, own); folder.startsWith(mount.point); folder = dirname(folder)) {
		if (isWritable(folder) && delegates(folder)) return folder;
	}
	return undefined;
}

function delegates(folder: string): boolean {
	const file = join(folder, "cgroup.subtree_control");
	const hasAll = () => {
		const given = (readIfThere(file) ?? "").trim().split(" ");
		return CONTROLLERS.every((controller) => given.includes(controller));
	};
	if (hasAll()) return true;
	const there = (readIfThere(join(folder, "cgroup.controllers")) ?? "").trim().split(" ");
	if (!CONTROLLERS.every((controller) => there.includes(controller))) return false;
	// Refused (EBUSY) where the group holds processes itself: then its parent is asked.
	try {
		writeFileSync(file, CONTROLLERS.map((controller) => `+${controller}`).join(" "));
	} catch {}
	return hasAll();
}

function isWritable(folder: string): boolean {
	try {
		accessSync(folder, constants.W_OK);
		accessSync(join(folder, "cgroup.procs"), constants.W_OK);
		return true;
	} catch {
		return false;
	}
}
