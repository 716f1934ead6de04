import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Staged, toJavaScript } from "../../extensions/bwrap/support/staged";
import type { Mutant } from "./mutants";

const ROOT = join(__dirname, "..", "..", "..");

/** A copy of the staged extension with something wrong in it. */
export class Mutated {
	readonly folder = mkdtempSync(join(tmpdir(), "bwrap-mutant-"));

	constructor(staged: Staged, edits: Mutant["edits"]) {
		for (const folder of ["provider", "extensions"])
			cpSync(staged.file(folder), this.file(folder), { recursive: true });
		symlinkSync(staged.file("node_modules"), this.file("node_modules"));
		const sources = new Map<string, string>();
		for (const [file, find, put] of edits) {
			const source = sources.get(file) ?? readFileSync(join(ROOT, file), "utf8");
			if (!source.includes(find)) throw new Error(`The mutant does not fit any more: ${file} has no ${find}`);
			sources.set(
				file,
				source.replace(find, () => put),
			);
		}
		for (const [file, source] of sources) {
			const target = this.file(file.replace(/\.ts$/, ".js"));
			writeFileSync(target, file.endsWith(".ts") ? toJavaScript(source) : source);
		}
	}

	file(path: string): string {
		return join(this.folder, path);
	}

	remove(): void {
		rmSync(this.folder, { recursive: true, force: true });
	}
}
