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

/** Seconds since boot, suspended time included; no clock setting moves them. */
export async function uptimeSeconds(): Promise<number> {
	return Number((await readFile("/proc/uptime", "utf8")).split(" ")[0]);
}
