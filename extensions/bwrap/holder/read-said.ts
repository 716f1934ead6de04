import { readFile } from "node:fs/promises";
import { hasErrno } from "../../../provider/errors";

/** What the supervisor has written into a file; undefined where it has not come that far. */
export async function readSaid(file: string): Promise<string | undefined> {
	try {
		return await readFile(file, "utf8");
	} catch (thrown) {
		if (hasErrno(thrown, "ENOENT")) return undefined;
		throw thrown;
	}
}
