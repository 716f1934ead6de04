import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const made: string[] = [];

/** A folder with these files, for one test. */
export function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), "sandboxer-registry-")));
	made.push(folder);
	for (const [name, content] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, name)), { recursive: true });
		writeFileSync(join(folder, name), content);
	}
	return folder;
}

afterEach(() => {
	for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});
