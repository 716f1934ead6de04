import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE_BYTES = 10_737;
const FILES_A_FOLDER = 100;

/** Words that recur, as in source code: gzip makes about a third of it. */
const WORDS = Array.from({ length: 2000 }, (_, index) => randomBytes(1 + (index % 8)).toString("hex"));

/**
 * A tree of so many files of 10 KiB, no two the same: 100 000 are 1 GiB.
 *
 * @param {string} folder
 * @param {number} files
 */
export function makeTree(folder, files) {
	const text = Array.from({ length: 200_000 }, () => WORDS[Math.floor(Math.random() * WORDS.length)]).join(" ");
	for (let index = 0; index < files; index++) {
		const inner = join(folder, `folder-${Math.floor(index / FILES_A_FOLDER)}`);
		if (index % FILES_A_FOLDER === 0) mkdirSync(inner, { recursive: true });
		const start = Math.floor(Math.random() * (text.length - FILE_BYTES));
		writeFileSync(join(inner, `file-${index}`), text.slice(start, start + FILE_BYTES));
	}
}
