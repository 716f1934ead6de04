import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { kill } from "../../support/kill";

export interface SeenProcess {
	readonly pid: number;
	readonly startTicks: string;
	readonly command: string;
	readonly leadsSession: boolean;
}

/** How a record names a process: a number alone is handed out anew. */
export interface Identity {
	readonly pid: number;
	readonly start_ticks: number;
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
						// Field 6 of /proc/PID/stat is the session, named by its leader.
						leadsSession: fields[3] === name,
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
export async function endRunsOf(folder: string): Promise<void> {
	await until("the runs of the CLI have ended", () => {
		const left = allProcesses().filter(({ pid }) => environmentOf(pid).includes(`\0PULUMI_HOME=${folder}/`));
		for (const { pid } of left) kill(pid);
		return left.length === 0;
	});
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

export function isRunning({ pid, start_ticks }: Identity): boolean {
	return allProcesses().some((seen) => seen.pid === pid && seen.startTicks === String(start_ticks));
}

/** Waits until something holds; says what did not after the time is up. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 15_000): Promise<void> {
	const deadline = Date.now() + timeoutMs;
	while (!(await holds())) {
		if (Date.now() > deadline) throw new Error(`after ${timeoutMs} ms this does not hold: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
}
