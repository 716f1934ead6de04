import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

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
		chmodSync(made, mode);
		if (made === first) return;
	}
}

/** Writes a file that the sandbox's own user can read, whatever the umask of the caller. */
export function writeOpenFile(file: string, text: string): void {
	writeFileSync(file, text, { mode: 0o644 });
	chmodSync(file, 0o644);
}
