import { createHash } from "node:crypto";
import type { Manifest } from "./manifest";

/** The sum and size of what goes by. */
export class RunningSum {
	readonly #hash = createHash("sha256");
	#bytes = 0;

	async *pass(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
		for await (const chunk of source) {
			this.#hash.update(chunk);
			this.#bytes += chunk.length;
			yield chunk;
		}
	}

	result(): Pick<Manifest, "size_bytes" | "sha256"> {
		return { size_bytes: this.#bytes, sha256: this.#hash.digest("hex") };
	}
}
