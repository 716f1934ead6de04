import { globSync, lstatSync, readdirSync, readFileSync } from "node:fs";
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
			// A supervisor forks, now and then, what looks like itself until it runs another program.
			.filter(({ command, leadsSession }) => leadsSession || !/ supervise /.test(command))
			.map(({ pid, startTicks }) => `${pid} ${startTicks}`),
		groups: globSync(`/sys/fs/cgroup/**/sandboxer-${sandboxId}-*`).sort(),
		sockets: readFileSync("/proc/net/unix", "utf8")
			.split("\n")
			.filter((line) => line.includes(folder)),
	};
}

function below(folder: string): string[] {
	return readdirSync(folder, { withFileTypes: true })
		.flatMap((entry) => {
			const file = join(folder, entry.name);
			// Links lead into the repository, and are not followed: what others build there meanwhile is not of this folder.
			const line = `${file} ${lstatSync(file, { throwIfNoEntry: false })?.mtimeMs}`;
			return entry.isDirectory() ? [line, ...below(file)] : [line];
		})
		.sort();
}
