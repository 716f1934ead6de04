import { readdirSync, readFileSync } from "node:fs";

export interface Trace {
	readonly pid: number;
	readonly command: string;
}

/** Processes, zombies apart, that have a text in their words. */
export function processesOf(words: string): Trace[] {
	return all().filter(({ command }) => command.includes(words));
}

/**
 * Processes, zombies apart, that have to do with the sandboxes below a folder: the folder's own name, which
 * is like no other, stands in their words or in the table of their mounts. The latter tells every process
 * inside a sandbox, whatever namespaces it is in.
 */
export function traces(name: string): Trace[] {
	return all().filter(({ pid, command }) => command.includes(name) || read(`/proc/${pid}/mountinfo`).includes(name));
}

/** Processes, zombies apart, of a process group; whoever asks has started its leader. */
export function processesOfGroup(group: number): number[] {
	return all()
		.map(({ pid }) => pid)
		.filter((pid) => read(`/proc/${pid}/stat`).split(") ").pop()?.split(" ")[2] === String(group));
}

function all(): Trace[] {
	return readdirSync("/proc")
		.filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid && !isDead(entry))
		.map((entry) => ({
			pid: Number(entry),
			command: read(`/proc/${entry}/cmdline`).replaceAll("\0", " ").trim(),
		}));
}

function isDead(pid: string): boolean {
	const stat = read(`/proc/${pid}/stat`);
	return ["", "Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3));
}

/** Empty where the process has ended meanwhile. */
function read(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
