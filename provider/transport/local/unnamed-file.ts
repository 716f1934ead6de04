import { randomUUID } from "node:crypto";
import { closeSync, openSync, rmSync, writeFile, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { closedOnExec } from "./spawn-clean";

const writeLater = promisify(writeFile);

/** A file that no folder holds and that ends with this process: what children read from a descriptor. */
export class UnnamedFile {
	readonly #descriptor: number;

	/**
	 * @param directory - On the disk that is to hold it; the file has a name there for an instant.
	 * @throws As of `openSync`.
	 */
	constructor(directory: string) {
		const file = join(directory, `.sandboxer-${randomUUID()}`);
		this.#descriptor = openSync(file, "wx+", 0o600);
		rmSync(file);
		closedOnExec.add(this.#descriptor);
	}

	/** Adds to its end. */
	write(bytes: Uint8Array): Promise<void> {
		return writeLater(this.#descriptor, bytes);
	}

	/** Adds to its end, for little. */
	writeSync(bytes: Uint8Array): void {
		writeFileSync(this.#descriptor, bytes);
	}

	/** A descriptor for reading that stands at the beginning, whatever was read from another one. It is the taker's to close. */
	open(): number {
		return openSync(`/proc/self/fd/${this.#descriptor}`, "r");
	}

	close(): void {
		closedOnExec.delete(this.#descriptor);
		closeSync(this.#descriptor);
	}
}
