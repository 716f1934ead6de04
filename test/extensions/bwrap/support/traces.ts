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

/** Those of them that were left running: what is being ended, and cannot but end, is not. */
export function survivors(name: string): Trace[] {
	return traces(name).filter(({ pid }) => !isEnding(pid));
}

/** Processes, zombies apart, of a process group; whoever asks has started its leader. */
export function processesOfGroup(group: number): number[] {
	return all()
		.map(({ pid }) => pid)
		.filter((pid) => statOf(pid)[2] === String(group));
}

function all(): Trace[] {
	return readdirSync("/proc")
		.filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid && !isDead(entry))
		.map((entry) => ({
			pid: Number(entry),
			command: read(`/proc/${entry}/cmdline`).replaceAll("\0", " ").trim(),
		}));
}

/** States of a process that is a number and no more; none at all is that of one that has gone. */
const GONE = ["", "Z", "X"];

function isDead(pid: string): boolean {
	return GONE.includes(statOf(pid)[0] ?? "");
}

/** A bit of the flags in /proc/PID/stat: it is in its exit(2). */
const EXITING = 0x4;
/** Bit 8, counted from 0, of the signals in /proc/PID/status. */
const SIGKILL = 0x100n;

/** Nothing takes back a SIGKILL, and whoever sent it may go on before it is heard. */
function isEnding(pid: number): boolean {
	const [state = "", , , , , , flags] = statOf(pid);
	if (GONE.includes(state) || (Number(flags) & EXITING) !== 0) return true;
	const pending = read(`/proc/${pid}/status`).match(/^(?:SigPnd|ShdPnd):\t[0-9a-f]+$/gm) ?? [];
	return pending.some((line) => (BigInt(`0x${line.split("\t")[1]}`) & SIGKILL) !== 0n);
}

/** Fields of /proc/PID/stat from the third on, the state. */
function statOf(pid: number | string): string[] {
	const stat = read(`/proc/${pid}/stat`);
	return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Empty where the process has ended meanwhile. */
function read(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
