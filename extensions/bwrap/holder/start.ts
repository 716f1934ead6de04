import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { z } from "zod";
import { checkpoint } from "../../../provider/contract";
import { SandboxerError } from "../../../provider/errors";
import { type ProcessIdentity, ProcessTable } from "../../../provider/identity";
import { spawnClean, strayDescriptors } from "../../../provider/transport";
import { type Programs, startFailure } from "../preflight";
import type { BwrapRecord } from "../record";
import { seccompFilter } from "../seccomp/filter";
import { HOLDER_DESCRIPTORS, holderCommand, sandboxFolders } from "./command";
import { readSupervisor } from "./supervisor";

const SUPERVISE = join(__dirname, "supervise.sh");

export interface Held {
	readonly supervisor: ProcessIdentity;
	/** pid 1 of the sandbox, as this machine counts. */
	readonly init: ProcessIdentity;
}

export interface StartOptions {
	readonly programs: Programs;
	readonly record: BwrapRecord;
	readonly directory: string;
	/** The file of the clock that leases are counted by. */
	readonly clock: string;
	/** The lock of the sandbox: the supervisor holds it too until it has written who it is. */
	readonly lock: number;
	readonly signal: AbortSignal;
	readonly timeoutSeconds: number;
}

/**
 * Starts the supervisor, in a session of its own so that it outlives this process, and waits until the
 * sandbox's first process says that it is there.
 */
export async function startHolder({
	programs,
	record,
	directory,
	clock,
	lock,
	signal,
	timeoutSeconds,
}: StartOptions): Promise<Held> {
	const folders = sandboxFolders(directory);
	const filterFile = join(directory, "filter");
	writeFileSync(filterFile, seccompFilter(process.arch), { mode: 0o600 });
	const opened = {
		log: openSync(folders.log, "w", 0o600),
		info: openSync(folders.info, "w", 0o600),
		filter: openSync(filterFile, "r"),
	};
	// In the order of HOLDER_DESCRIPTORS, from 3 on, with no gap: a gap would be an open /dev/null inside.
	const stdio = ["ignore", opened.log, opened.log, opened.info, "pipe", lock, opened.filter] as const;
	const script = readFileSync(SUPERVISE, "utf8");
	const stray = strayDescriptors(3);
	const above = stray.filter((descriptor) => descriptor >= stdio.length);
	const command = holderCommand(programs, record, directory, above);
	const child = spawnClean(programs.sh, ["-c", script, "supervise", directory, clock, ...command], {
		env: { PATH: dirname(programs.sleep) },
		stdio,
		detached: true,
		stray,
	});
	for (const descriptor of Object.values(opened)) closeSync(descriptor);
	const ready = child.stdio[HOLDER_DESCRIPTORS.ready] as Readable;
	try {
		await checkpoint("provision:spawned");
		const said = await firstWord(ready, child, AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]));
		if (signal.aborted)
			throw new SandboxerError({ code: "aborted", message: `The start of sandbox ${record.sandbox_id} was stopped.` });
		if (said === undefined)
			throw await notStarted(record, folders.log, child.exitCode === null && child.signalCode === null, timeoutSeconds);
		await checkpoint("provision:started");
		return await identify(directory, record);
	} finally {
		ready.destroy();
		child.unref();
	}
}

/** The first thing said on the pipe; undefined where it closed, or the time was up, without a word. */
async function firstWord(
	ready: Readable,
	child: { once(event: "error", listener: (error: Error) => void): unknown },
	signal: AbortSignal,
): Promise<string | undefined> {
	const failed = new Promise<never>((_resolve, reject) => child.once("error", reject));
	failed.catch(() => undefined);
	try {
		const data = once(ready, "data", { signal }).then(([chunk]) => String(chunk));
		const end = once(ready, "end", { signal }).then(() => undefined);
		data.catch(() => undefined);
		end.catch(() => undefined);
		return await Promise.race([data, end, failed]);
	} catch (thrown) {
		if (signal.aborted) return undefined;
		throw thrown;
	}
}

async function notStarted(
	record: BwrapRecord,
	log: string,
	stillRuns: boolean,
	timeoutSeconds: number,
): Promise<SandboxerError> {
	const text = await readFile(log, "utf8").catch(() => "");
	if (stillRuns && text.trim() === "") {
		return new SandboxerError({
			code: "timeout",
			message: `Sandbox ${record.sandbox_id} did not come up within ${timeoutSeconds} s.`,
			hint: "Give it more time (customTimeouts.create), or look at the load of this machine.",
		});
	}
	return startFailure(record.sandbox_id, text);
}

const infoSchema = z.object({ "child-pid": z.number().int().positive() });

async function identify(directory: string, record: BwrapRecord): Promise<Held> {
	const folders = sandboxFolders(directory);
	const table = new ProcessTable();
	const supervisor = await readSupervisor(folders.supervisor);
	const info = infoSchema.safeParse(parseJson(await readFile(folders.info, "utf8")));
	const init = info.success ? table.identify(info.data["child-pid"]) : undefined;
	if (supervisor === undefined || init === undefined)
		throw startFailure(record.sandbox_id, await readFile(folders.log, "utf8"));
	return { supervisor, init };
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
