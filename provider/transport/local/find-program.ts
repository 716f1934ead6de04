import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

/** The absolute path of a program on a PATH; undefined where there is none. Relative folders of the PATH do not count. */
export function findProgram(name: string, path: string): string | undefined {
	return path
		.split(":")
		.filter((folder) => folder.startsWith("/"))
		.map((folder) => join(folder, name))
		.find(isProgram);
}

function isProgram(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}
