import { randomUUID } from "node:crypto";
import { closeSync, constants, openSync, rmSync, writeFile, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasErrno } from "../../errors";
import { closedOnExec } from "./spawn-clean";

/** O_TMPFILE of open(2) on x86 and arm: Node has no name for it. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;

const writeLater = promisify(writeFile);

/** A file that no folder holds and that ends with this process: what children read from a descriptor. */
export class UnnamedFile {
	readonly #descriptor: number;
	#writing: Promise<void> = Promise.resolve();
	#isClosed = false;

	/**
	 * @param directory - On the disk that is to hold it.
	 * @throws As of `openSync`.
	 */
	constructor(directory: string) {
		this.#descriptor = openUnnamed(directory);
		closedOnExec.add(this.#descriptor);
	}

	/** Adds to its end. One at a time. */
	write(bytes: Uint8Array): Promise<void> {
		// Its number may be another file's by now.
		if (this.#isClosed) return Promise.reject(new Error("The file is closed."));
		this.#writing = writeLater(this.#descriptor, bytes);
		return this.#writing;
	}

	/** Adds to its end, for little. */
	writeSync(bytes: Uint8Array): void {
		writeFileSync(this.#descriptor, bytes);
	}

	/** A descriptor for reading that stands at the beginning, whatever was read from another one. It is the taker's to close. */
	open(): number {
		return openSync(`/proc/self/fd/${this.#descriptor}`, "r");
	}

	/** Once what is being written is written. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await this.#writing.catch(() => undefined);
		closedOnExec.delete(this.#descriptor);
		closeSync(this.#descriptor);
	}
}

function openUnnamed(directory: string): number {
	try {
		return openSync(directory, O_TMPFILE | constants.O_RDWR, 0o600);
	} catch (thrown) {
		if (!hasErrno(thrown, "ENOTSUP")) throw thrown;
	}
	// Some file systems make none (overlayfs before linux 6.1): there it has a name for an instant.
	const file = join(directory, `.sandboxer-${randomUUID()}`);
	const descriptor = openSync(file, "wx+", 0o600);
	rmSync(file);
	return descriptor;
}
