import { readFileSync } from "node:fs";

/** A file of the kernel's; undefined where it cannot be read. */
export function readIfThere(file: string): string | undefined {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return undefined;
	}
}
