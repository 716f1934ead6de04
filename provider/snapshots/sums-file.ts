import { createHash, type Hash } from "node:crypto";
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { sumLine } from "./manifest";
import type { TarMember } from "./tar-header";

const BUFFERED_LINES = 1000;

/** The sums of the single files, written as the archive goes by. */
export class SumsFile {
	readonly #descriptor: number;
	readonly #hash = createHash("sha256");
	#lines: string[] = [];

	private constructor(descriptor: number) {
		this.#descriptor = descriptor;
	}

	static create(file: string): SumsFile {
		return new SumsFile(openSync(file, "wx", 0o600));
	}

	add({ name, size }: TarMember, hash: Hash): void {
		this.#lines.push(sumLine(name, size, hash.digest("hex")));
		if (this.#lines.length >= BUFFERED_LINES) this.#flush();
	}

	/** The sum of it all. On return all of it is on the disk. */
	finish(): string {
		this.#flush();
		fsyncSync(this.#descriptor);
		return this.#hash.digest("hex");
	}

	close(): void {
		closeSync(this.#descriptor);
	}

	#flush(): void {
		let rest = Buffer.from(this.#lines.join(""));
		this.#hash.update(rest);
		while (rest.length > 0) rest = rest.subarray(writeSync(this.#descriptor, rest));
		this.#lines = [];
	}
}
