import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { allProcesses } from "./processes";

/**
 * What this machine shows of a folder and of the sandboxes in it: equal before and after something that
 * touches nothing.
 *
 * @param sandboxId - Whose control groups are looked for: other tests make theirs meanwhile.
 * @param ignored - How the lines of files begin that are left out: a path, a blank, the time of its last change.
 */
export function inventory(folder: string, sandboxId: string, ignored: readonly string[] = []): Record<string, unknown> {
	return {
		files: below(folder).filter((file) => !ignored.some((start) => file.startsWith(start))),
		processes: allProcesses()
			.filter(({ command }) => /supervise|bwrap|sleep infinity/.test(command) && command.includes(folder))
			.map(({ pid, startTicks }) => `${pid} ${startTicks}`),
		groups: readdirSync("/sys/fs/cgroup").flatMap((hierarchy) =>
			groupsBelow(join("/sys/fs/cgroup", hierarchy), sandboxId),
		),
		sockets: readFileSync("/proc/net/unix", "utf8")
			.split("\n")
			.filter((line) => line.includes(folder)),
	};
}

function below(folder: string): string[] {
	// The links into the repository are followed by readdir: what others build there meanwhile is not of this folder.
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => !join(entry.parentPath, entry.name).startsWith(join(folder, "node_modules")))
		.map((entry) => join(entry.parentPath, entry.name))
		.map((file) => `${file} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs}`)
		.sort();
}

function groupsBelow(folder: string, sandboxId: string): string[] {
	try {
		return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
			name.includes(`sandboxer-${sandboxId}-`),
		);
	} catch {
		return [];
	}
}
