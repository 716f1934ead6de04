/** What stands in place of a value. */
const MASKED = "[credential]";
/** A shorter value would be found everywhere. */
const SHORTEST = 4;

/** Takes the values of credentials out of a stream of bytes, also where a piece ends within one. */
export class CredentialMask {
	private readonly values: readonly string[];
	private readonly longest: number;
	private pending = "";

	constructor(values: readonly string[]) {
		this.values = values
			// A character a byte.
			.map((value) => Buffer.from(value, "utf8").toString("latin1"))
			.filter((value) => value.length >= SHORTEST)
			.sort((a, b) => b.length - a.length);
		this.longest = this.values[0]?.length ?? 0;
	}

	/** What can be handed on; a value may have begun in the rest. */
	next(chunk: Uint8Array): Buffer {
		const text = this.masked(
			this.pending + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("latin1"),
		);
		const held = this.longest === 0 ? 0 : Math.min(text.length, this.longest - 1);
		this.pending = text.slice(text.length - held);
		return Buffer.from(text.slice(0, text.length - held), "latin1");
	}

	/** The rest, at the end. */
	rest(): Buffer {
		const { pending } = this;
		this.pending = "";
		return Buffer.from(pending, "latin1");
	}

	private masked(text: string): string {
		return this.values.reduce((left, value) => left.replaceAll(value, () => MASKED), text);
	}
}
