import { type ChildProcess, type IOType, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { Stream } from "node:stream";

/** Descriptors of a child by number; `undefined` for none. */
export type ChildDescriptors = readonly (IOType | Stream | number | undefined)[];

export interface CleanSpawnOptions {
	/** The whole environment of the child: nothing of this process's own goes along. */
	readonly env: Readonly<Record<string, string>>;
	readonly cwd?: string;
	readonly stdio: ChildDescriptors;
	/** A session and process group of its own. */
	readonly detached?: boolean;
}

/** O_CLOEXEC in the octal `flags` of /proc/self/fdinfo (linux, x86 and arm alike). */
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Starts a program with exactly the environment and the descriptors named. Node passes on every
 * descriptor that it inherited itself without close-on-exec (one of the caller's shell, say): each of
 * these is given /dev/null in its place.
 */
export function spawnClean(command: string, args: readonly string[], options: CleanSpawnOptions): ChildProcess {
	const stdio = [...options.stdio].map((descriptor) => descriptor ?? "ignore");
	for (const index of inheritable()) {
		while (stdio.length <= index) stdio.push("ignore");
	}
	return spawn(command, args, {
		env: { ...options.env },
		cwd: options.cwd ?? "/",
		detached: options.detached ?? false,
		stdio,
	});
}

/** Open descriptors above 2 that a child would inherit. */
function inheritable(): number[] {
	return readdirSync("/proc/self/fd")
		.map(Number)
		.filter((descriptor) => descriptor > 2 && isInheritable(descriptor));
}

function isInheritable(descriptor: number): boolean {
	try {
		const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
		return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
	} catch {
		return false; // closed meanwhile: the one that listed the folder
	}
}
