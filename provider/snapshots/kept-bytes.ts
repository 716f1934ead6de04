const BLOCK_BYTES = 256 * 1024;

/** Gathers small pieces into large ones: a stream is not fed by the block. */
export class KeptBytes {
	readonly #full: Buffer[] = [];
	#current = Buffer.allocUnsafe(BLOCK_BYTES);
	#used = 0;

	add(bytes: Buffer): void {
		for (let at = 0; at < bytes.length; ) {
			const taken = bytes.copy(this.#current, this.#used, at);
			at += taken;
			this.#used += taken;
			if (this.#used === BLOCK_BYTES) this.#next();
		}
	}

	/** What is complete. */
	full(): Buffer[] {
		return this.#full.splice(0);
	}

	/** All of it. */
	rest(): Buffer[] {
		if (this.#used > 0) this.#next();
		return this.full();
	}

	#next(): void {
		this.#full.push(this.#current.subarray(0, this.#used));
		this.#current = Buffer.allocUnsafe(BLOCK_BYTES);
		this.#used = 0;
	}
}
