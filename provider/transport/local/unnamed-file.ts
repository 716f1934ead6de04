import { randomUUID } from "node:crypto";
import { openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errnoOf, SandboxerError } from "../../errors";
import { closedOnExec } from "./spawn-clean";

/** A file that no folder holds and that ends with this process: what children read from a descriptor. */
export class UnnamedFile {
	readonly #descriptor: number;

	constructor(content: Uint8Array) {
		const file = join(tmpdir(), `sandboxer-${randomUUID()}`);
		try {
			writeFileSync(file, content, { flag: "wx", mode: 0o600 });
			this.#descriptor = openSync(file, "r");
			closedOnExec.add(this.#descriptor);
		} catch (thrown) {
			throw new SandboxerError({
				code: "preflight",
				message: `The file ${file} could not be written (${errnoOf(thrown) ?? String(thrown)}).`,
				hint: "Set TMPDIR to a folder that this user may write to, with room.",
				cause: thrown,
			});
		} finally {
			rmSync(file, { force: true });
		}
	}

	/** A descriptor that stands at the beginning, whatever was read from another one. It is the taker's to close. */
	open(): number {
		return openSync(`/proc/self/fd/${this.#descriptor}`, "r");
	}
}
