import { isUtf8 } from "node:buffer";
import { StringDecoder } from "node:string_decoder";
import type { OutputExcerpt } from "./types";

/** Keeps the beginning of an output, at most so many bytes, and counts the rest. */
export class OutputCollector {
	private readonly kept: Uint8Array[] = [];
	private room: number;
	private bytes = 0;

	constructor(maxBytes: number) {
		this.room = maxBytes;
	}

	add(chunk: Uint8Array): void {
		this.bytes += chunk.length;
		if (this.room === 0) return;
		// A copy: a piece of a larger buffer would keep the whole of it in memory.
		const piece = Uint8Array.from(chunk.subarray(0, this.room));
		this.kept.push(piece);
		this.room -= piece.length;
	}

	excerpt(): OutputExcerpt {
		const kept = Buffer.concat(this.kept);
		const truncated = kept.length < this.bytes;
		const decoder = new StringDecoder("utf8");
		const whole = decoder.write(kept);
		// The bound may have cut a character in two: its first half is left out.
		const text = truncated ? whole : whole + decoder.end();
		const isText = isUtf8(kept) || (truncated && !whole.includes("\uFFFD"));
		return { text, truncated, bytes: this.bytes, isText };
	}
}
