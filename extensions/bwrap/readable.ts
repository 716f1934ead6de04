import {
	chmodSync,
	closeSync,
	fchmodSync,
	fstatSync,
	mkdirSync,
	openSync,
	type Stats,
	statSync,
	writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

const OPEN_FILE = 0o644;

/**
 * Makes a folder, and those above it, that the sandbox's own user can pass through or read, whatever the umask of
 * the caller.
 *
 * @param mode - 0o711 to pass through, 0o755 to read.
 */
export function makeOpenFolder(folder: string, mode: number): void {
	const first = mkdirSync(folder, { recursive: true, mode });
	if (first === undefined) return;
	for (let made = folder; ; made = dirname(made)) {
		if (modeOf(statSync(made)) !== mode) chmodSync(made, mode);
		if (made === first) return;
	}
}

/** Writes a file that the sandbox's own user can read, whatever the umask of the caller. */
export function writeOpenFile(file: string, text: string): void {
	const descriptor = openSync(file, "w", OPEN_FILE);
	try {
		writeFileSync(descriptor, text);
		if (modeOf(fstatSync(descriptor)) !== OPEN_FILE) fchmodSync(descriptor, OPEN_FILE);
	} finally {
		closeSync(descriptor);
	}
}

/** Asked for first: a change goes through the journal of the disk. */
function modeOf({ mode }: Stats): number {
	return mode & 0o7777;
}
