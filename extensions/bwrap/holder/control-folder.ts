import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The folder that is bound read-only at /run/sbx: a bound folder sees a file being replaced, a bound file
 * does not. `deadline` is what the supervisor obeys, `id` is read again by whoever enters.
 */
export function makeControlFolder(
	folder: string,
	{ sandboxId, generation }: { sandboxId: string; generation: number },
	deadlineUptime: number,
): void {
	mkdirSync(folder, { mode: 0o755 });
	writeFileSync(join(folder, "id"), `${sandboxId} ${generation}\n`, { mode: 0o644 });
	writeFileSync(join(folder, "deadline"), `${deadlineUptime}\n`, { mode: 0o644 });
}

/** Replaces it as a whole. It counts from the boot: over a crash of the machine there is nothing to keep. */
export function writeDeadline(folder: string, deadlineUptime: number): void {
	const file = join(folder, "deadline");
	const temporary = `${file}.new`;
	writeFileSync(temporary, `${deadlineUptime}\n`, { mode: 0o644 });
	renameSync(temporary, file);
}

/** Undefined where it is missing or damaged: the supervisor takes that for the end. */
export async function readDeadline(folder: string): Promise<number | undefined> {
	const text = await readFile(join(folder, "deadline"), "utf8").catch(() => "");
	return /^\d+\n$/.test(text) ? Number(text) : undefined;
}

/**
 * The clock that leases are counted by, in seconds.
 *
 * @param clock - /proc/uptime: since boot, suspended time included; no clock setting moves it.
 */
export function uptimeSeconds(clock: string): number {
	return Number(readFileSync(clock, "utf8").split(" ")[0]);
}
