import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Replaces a file as a whole: after a crash the old text stands there or the new one, never half of one.
 * On return the text is on the disk.
 */
export async function writeDurably(file: string, text: string, mode = 0o600): Promise<void> {
	const temporary = `${file}.${process.pid}.new`;
	try {
		const handle = await open(temporary, "w", mode);
		try {
			await handle.writeFile(text);
			await handle.chmod(mode);
			await handle.sync();
		} finally {
			await handle.close();
		}
		await rename(temporary, file);
	} catch (thrown) {
		await rm(temporary, { force: true });
		throw thrown;
	}
	const folder = await open(dirname(file), "r");
	try {
		await folder.sync();
	} finally {
		await folder.close();
	}
}
