import type { ChildProcess } from "node:child_process";
import { errnoText, SandboxerError } from "../errors";
import { findProgram, run, spawnClean } from "../transport";

/** How tar is started. */
export interface TarSettings {
	/** The PATH to find programs on. */
	readonly path: string;
	/**
	 * Words before tar's own that take away its rights: it must run as the sandbox's own user, and best where there
	 * is nothing but the tree. Empty: with the rights of this process.
	 */
	readonly confinement: readonly string[];
	/** The tree, as tar finds it under its confinement. */
	readonly directory: string;
}

/** GNU tar by its path: others know neither holes nor extended attributes, or tell of changes in other words. */
export async function findTar({ path }: Pick<TarSettings, "path">, signal: AbortSignal): Promise<string> {
	const tar = findProgram("tar", path);
	const said = tar === undefined ? undefined : await run(tar, ["--version"], { env: {}, signal, timeoutSeconds: 10 });
	if (tar !== undefined && said?.stdout.includes("GNU tar") === true) return tar;
	throw new SandboxerError({
		code: "preflight",
		message: `Snapshots need GNU tar, and ${tar === undefined ? `no tar was found on PATH (${path})` : `${tar} is another one`}.`,
		hint: "Install it: sudo apt-get install tar.",
	});
}

/** Starts tar, with nothing of this process's environment, in a process group of its own. */
export function startTar(
	tar: string,
	words: readonly string[],
	{ path, confinement }: Pick<TarSettings, "path" | "confinement">,
	stdio: readonly ("ignore" | "pipe" | number)[],
): ChildProcess {
	const [program = tar, ...args] = [...confinement, tar, ...words];
	// Its messages are read, so they are to be in English.
	return spawnClean(program, args, { env: { PATH: path, LC_ALL: "C.UTF-8" }, stdio, detached: true });
}

/** How a program that was started ends: its exit code, or the signal or failed start in words. */
export function endOf(child: ChildProcess): Promise<number | string> {
	return new Promise((resolve) => {
		child.once("close", (exitCode, signal) => resolve(exitCode ?? String(signal)));
		child.once("error", (error) => resolve(errnoText(error)));
	});
}

/** Ends a program with all that it started. */
export function endGroup(child: ChildProcess): void {
	if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
		process.kill(-child.pid, "SIGKILL");
}
