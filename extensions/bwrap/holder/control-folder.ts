import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The folder that is bound read-only at /run/sbx: a bound folder sees a file being replaced, a bound file
 * does not. `deadline` is what the supervisor obeys, `id` is read again by whoever enters.
 */
export async function makeControlFolder(
	folder: string,
	id: { sandboxId: string; generation: number },
	deadlineUptime: number,
): Promise<void> {
	await mkdir(folder, { mode: 0o755 });
	await writeId(folder, id);
	await writeFile(join(folder, "deadline"), `${deadlineUptime}\n`, { mode: 0o644 });
}

export function writeId(
	folder: string,
	{ sandboxId, generation }: { sandboxId: string; generation: number },
): Promise<void> {
	return writeFile(join(folder, "id"), `${sandboxId} ${generation}\n`, { mode: 0o644 });
}

/** Replaces it as a whole. It counts from the boot: over a crash of the machine there is nothing to keep. */
export async function writeDeadline(folder: string, deadlineUptime: number): Promise<void> {
	const file = join(folder, "deadline");
	const temporary = `${file}.new`;
	await writeFile(temporary, `${deadlineUptime}\n`, { mode: 0o644 });
	await rename(temporary, file);
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
export async function uptimeSeconds(clock: string): Promise<number> {
	return Number((await readFile(clock, "utf8")).split(" ")[0]);
}
