import { type ChildProcess, type IOType, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import type { Stream } from "node:stream";
import { hasErrno } from "../../errors";

/** Descriptors of a child by number; `undefined` for none. */
export type ChildDescriptors = readonly (IOType | Stream | number | undefined)[];

export interface CleanSpawnOptions {
	/** The whole environment of the child: nothing of this process's own goes along. */
	readonly env: Readonly<Record<string, string>>;
	readonly cwd?: string;
	readonly stdio: ChildDescriptors;
	/** A session and process group of its own. */
	readonly detached?: boolean;
	/** What {@link strayDescriptors} has just said, from 3 on: for callers that need it themselves. */
	readonly stray?: readonly number[];
}

/** O_CLOEXEC in the octal `flags` of /proc/self/fdinfo (linux, x86 and arm alike). */
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Starts a program with exactly the environment and the descriptors named. What a child would inherit beside
 * them ({@link strayDescriptors}) becomes /dev/null in it: Node has no way to close it there.
 */
export function spawnClean(command: string, args: readonly string[], options: CleanSpawnOptions): ChildProcess {
	const stdio = options.stdio.map((descriptor) => descriptor ?? "ignore");
	const nothing = openSync("/dev/null", "r");
	try {
		for (const index of options.stray ?? strayDescriptors(3)) {
			while (stdio.length <= index) stdio.push("ignore");
			// Above 2, "ignore" leaves as it is whatever the child inherits.
			if (stdio[index] === "ignore") stdio[index] = nothing;
		}
		return spawn(command, args, {
			env: { ...options.env },
			cwd: options.cwd ?? "/",
			detached: options.detached ?? false,
			stdio,
		});
	} finally {
		closeSync(nothing);
	}
}

/** Descriptors that are kept for long, opened by Node itself and so with close-on-exec: whoever opened them takes them out again. */
export const closedOnExec = new Set<number>();

/**
 * Open descriptors from a number on that every child inherits: Node passes on what it inherited itself
 * without close-on-exec (one of the caller's shell, say). In ascending order. To be asked at every spawn:
 * Node opens its own with close-on-exec, a native addon may not.
 */
export function strayDescriptors(from: number): number[] {
	return readdirSync("/proc/self/fd")
		.map(Number)
		.filter((descriptor) => descriptor >= from && !closedOnExec.has(descriptor) && isInheritable(descriptor))
		.sort((a, b) => a - b);
}

/** Bytes of fdinfo that hold its flags, the second line. */
const flagsText = Buffer.alloc(128);

function isInheritable(descriptor: number): boolean {
	let info: number | undefined;
	try {
		info = openSync(`/proc/self/fdinfo/${descriptor}`, "r");
		const text = flagsText.toString("latin1", 0, readSync(info, flagsText));
		const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1];
		return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
	} catch (thrown) {
		// Closed meanwhile: the one that listed the folder, or one of another thread, even between open and read.
		if (hasErrno(thrown, "ENOENT")) return false;
		throw thrown;
	} finally {
		if (info !== undefined) closeSync(info);
	}
}
