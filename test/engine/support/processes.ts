import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface SeenProcess {
	readonly pid: number;
	readonly startTicks: string;
	readonly command: string;
}

/** All processes of this machine that are not zombies. */
export function allProcesses(): SeenProcess[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.flatMap((name) => {
			try {
				const stat = readFileSync(`/proc/${name}/stat`, "utf8");
				const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
				if (fields[0] === "Z" || fields[0] === "X") return [];
				return [
					{
						pid: Number(name),
						startTicks: fields[19] ?? "",
						command: readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim(),
					},
				];
			} catch {
				return []; // ended meanwhile
			}
		});
}

/** Processes that belong to sandboxes below a folder: by their words, or by being in one's pid namespace. */
export function processesOf(folder: string): SeenProcess[] {
	const all = allProcesses();
	const byWords = all.filter(
		({ command, pid }) => command.includes(folder) && pid !== process.pid && /supervise|bwrap/.test(command),
	);
	const namespaces = new Set(byWords.flatMap(({ pid }) => namespaceOfChildren(pid)));
	return all.filter((seen) => byWords.includes(seen) || namespaces.has(namespace(seen.pid)));
}

/**
 * Ends what runs of the CLI in a folder started and left: after a SIGKILL of the CLI its language host lives
 * on for minutes.
 */
export function endRunsOf(folder: string): void {
	for (const { pid } of allProcesses()) {
		if (!environmentOf(pid).includes(`\0PULUMI_HOME=${folder}/`)) continue;
		try {
			process.kill(pid, "SIGKILL");
		} catch {
			// ended meanwhile
		}
	}
}

function environmentOf(pid: number): string {
	try {
		return `\0${readFileSync(`/proc/${pid}/environ`, "utf8")}`;
	} catch {
		return ""; // ended meanwhile
	}
}

function namespaceOfChildren(pid: number): string[] {
	try {
		return [readlinkSync(`/proc/${pid}/ns/pid_for_children`)].filter(
			(name) => name !== readlinkSync("/proc/self/ns/pid"),
		);
	} catch {
		return [];
	}
}

function namespace(pid: number): string {
	try {
		return readlinkSync(`/proc/${pid}/ns/pid`);
	} catch {
		return "";
	}
}

export function isRunning(pid: number): boolean {
	return allProcesses().some((seen) => seen.pid === pid);
}

/** Waits until something holds; says what did not after the time is up. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 15_000): Promise<void> {
	const deadline = Date.now() + timeoutMs;
	while (!(await holds())) {
		if (Date.now() > deadline) throw new Error(`after ${timeoutMs} ms this does not hold: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
}
