import { closeSync, fchmodSync, fsync, openSync, rmSync, writeFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";

/** This and the rename wait for the journal of the disk; all else takes less than a way to another thread and back. */
const sync = promisify(fsync);

/**
 * Replaces a file as a whole: after a crash the old text stands there or the new one, never half of one.
 * On return the text is on the disk.
 */
export async function writeDurably(file: string, text: string, mode = 0o600): Promise<void> {
	await replaceFile(file, text, mode);
	await syncFolder(dirname(file));
}

/** The same, but after a crash of the machine the old text may stand there until its folder is synchronised. */
export async function replaceFile(file: string, text: string, mode = 0o600): Promise<void> {
	const temporary = `${file}.${process.pid}.new`;
	try {
		const descriptor = openSync(temporary, "w", mode);
		try {
			writeFileSync(descriptor, text);
			fchmodSync(descriptor, mode);
			await sync(descriptor);
		} finally {
			closeSync(descriptor);
		}
		await rename(temporary, file);
	} catch (thrown) {
		rmSync(temporary, { force: true });
		throw thrown;
	}
}

/** On return what stands in the folder is on the disk. */
export async function syncFolder(folder: string): Promise<void> {
	const descriptor = openSync(folder, "r");
	try {
		await sync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}
