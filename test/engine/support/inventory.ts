import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { allProcesses } from "./processes";

/** What this machine shows of sandboxes and of a folder: equal before and after something that touches nothing. */
export function inventory(folder: string, ignored: readonly string[] = []): Record<string, unknown> {
	return {
		files: below(folder).filter((file) => !ignored.some((start) => file.startsWith(start))),
		processes: allProcesses()
			.filter(({ command }) => /supervise|bwrap|sleep infinity/.test(command) && command.includes(folder))
			.map(({ pid, startTicks }) => `${pid} ${startTicks}`),
		groups: readdirSync("/sys/fs/cgroup").flatMap((hierarchy) => groupsBelow(join("/sys/fs/cgroup", hierarchy))),
		sockets: readFileSync("/proc/net/unix", "utf8")
			.split("\n")
			.filter((line) => line.includes(folder)),
	};
}

function below(folder: string): string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.map((entry) => join(entry.parentPath, entry.name))
		.map((file) => `${file} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs}`)
		.sort();
}

function groupsBelow(folder: string): string[] {
	try {
		return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /sandboxer-[^/]*$/.test(name));
	} catch {
		return [];
	}
}
