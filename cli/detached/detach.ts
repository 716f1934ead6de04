import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { SandboxerError } from "../../provider/errors";
import { ProcessTable, waitUntilDead } from "../../provider/identity";
import { spawnClean } from "../../provider/transport";
import { allDetached, type Detached, detachedOf, forget, KEPT_DAYS, newFolder } from "./folder";
import type { Job } from "./job";

/** A command that ends so soon was mostly never started: it is told at once. */
const EARLY_MS = 500;
/** How long a keeper may take to end its command when asked to. */
const STOP_MS = 10_000;
const LONGEST_START_MS = 30_000;

/** Starts a keeper, in a session of its own. Comes back once it has the execution and, for half a second, its early end. */
export async function detach(job: Omit<Job, "execId" | "folder">): Promise<Detached> {
	await forgetOld();
	const { execId, folder } = await newFolder();
	const child = spawnClean(process.execPath, [join(__dirname, "..", "keeper.js")], {
		env: Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? ""])),
		cwd: process.cwd(),
		stdio: ["pipe", "pipe", "ignore"],
		detached: true,
	});
	const { stdin, stdout } = child;
	if (!(stdin instanceof Writable && stdout instanceof Readable)) throw new Error("The keeper has no pipes.");
	const lines: AsyncIterator<string, undefined> = createInterface(stdout)[Symbol.asyncIterator]();
	try {
		stdin.on("error", () => undefined);
		stdin.end(JSON.stringify({ ...job, execId, folder }));
		const kept = await within(LONGEST_START_MS, lines.next());
		if (kept?.value !== "kept") {
			await rm(folder, { recursive: true, force: true });
			throw notKept(kept?.value);
		}
		await within(EARLY_MS, lines.next());
		return await detachedOf(execId);
	} finally {
		stdout.destroy();
		child.unref();
	}
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
	const stop = new AbortController();
	try {
		return await Promise.race([work, pause(milliseconds, undefined, { signal: stop.signal })]);
	} finally {
		stop.abort();
	}
}

function notKept(said: string | undefined): SandboxerError {
	const [, error] = /^failed (.*)$/.exec(said ?? "") ?? [];
	return new SandboxerError({
		code: "unknown",
		message:
			error === undefined
				? "The process that was to hold the execution open ended at once."
				: `The process that was to hold the execution open failed: ${(JSON.parse(error) as { message: string }).message}`,
		hint: "Nothing was started.",
	});
}

/** Ends an execution and waits until it has ended; says whether there was anything to end. */
export async function stop({ start: { exec_id, keeper } }: Detached): Promise<boolean> {
	const table = new ProcessTable();
	if (!table.signal(keeper, "SIGTERM")) return false;
	if ((await waitUntilDead(table, [keeper], STOP_MS)).length === 0) return true;
	table.signal(keeper, "SIGKILL");
	if ((await waitUntilDead(table, [keeper], STOP_MS)).length === 0) return true;
	throw new SandboxerError({
		code: "remains",
		message: `Execution ${exec_id} could not be ended: its keeper, process ${keeper.pid}, is still there.`,
	});
}

async function forgetOld(): Promise<void> {
	const oldest = Date.now() - KEPT_DAYS * 24 * 3600 * 1000;
	for (const one of (await allDetached()).all) {
		const last = one.end?.ended_at ?? (one.state === "lost" ? one.start.started_at : undefined);
		if (last !== undefined && Date.parse(last) < oldest) await forget(one);
	}
}
