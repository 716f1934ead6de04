import {
	ArchiveFault,
	BLOCK,
	CutShort,
	EXTENDED,
	readBlock,
	readRecords,
	type TarMember,
	toMember,
} from "./tar-header";

/** The largest extended header, in bytes: names and attributes of one member. */
const MAX_EXTENDED = 1024 * 1024;
const NO_RECORDS: ReadonlyMap<string, string> = new Map();

/** What is told of an archive as it goes by. */
export interface TarVisitor {
	/** @param headerBytes - What the archive holds of it beside its data. */
	member(member: TarMember, headerBytes: number): void;
	/** A piece of the data of the member last told. */
	data?(bytes: Buffer): void;
	/** The data of the member last told is complete. */
	memberEnd?(member: TarMember): void;
	/** Every byte of the archive, in order: a member's headers after `member`, then its data and padding; at last the end. */
	raw?(bytes: Buffer): void;
}

/**
 * Reads a tar archive of format pax as it goes by, and refuses whatever GNU tar could read in another way than
 * this does: other formats and types, odd numbers, unknown keys, data where none belongs. So what is inspected
 * here is what tar then unpacks.
 *
 * @example
 * ```ts
 * const reader = new TarReader({ member: ({ name }) => console.log(name) });
 * for await (const chunk of stream) reader.push(chunk);
 * reader.end();
 * ```
 */
export class TarReader {
	readonly #visitor: TarVisitor;
	/** The beginning of a header whose end is not here yet. */
	#rest: Buffer = Buffer.alloc(0);
	/** Headers of the member to come. */
	#headers: Buffer[] = [];
	#records = NO_RECORDS;
	/** Size of the extended header that comes next. */
	#extended: number | undefined;
	#member: TarMember | undefined;
	#data = 0;
	#padding = 0;
	/** Blocks of zeros seen: after the first nothing else may come. */
	#zeros = 0;

	constructor(visitor: TarVisitor) {
		this.#visitor = visitor;
	}

	/** @throws ArchiveFault at the first thing that is wrong; nothing may be pushed after it. */
	push(chunk: Buffer): void {
		const missing = this.#rest.length === 0 ? 0 : this.#headerLength() - this.#rest.length;
		if (missing > 0) {
			const header = Buffer.concat([this.#rest, chunk.subarray(0, missing)]);
			this.#rest = header.subarray(this.#step(header));
		}
		let at = chunk.subarray(missing);
		for (let taken = this.#step(at); taken > 0; taken = this.#step(at)) at = at.subarray(taken);
		if (at.length > 0) this.#rest = Buffer.from(at);
	}

	/** @throws ArchiveFault where the archive is not complete. */
	end(): void {
		if (this.#rest.length > 0 || this.#member !== undefined || this.#zeros < 2) throw new CutShort(this.#member?.name);
	}

	/** Reads one thing; how many bytes it was, 0 where more are needed. */
	#step(at: Buffer): number {
		if (this.#member !== undefined) return this.#content(at, this.#member);
		const length = this.#headerLength();
		if (at.length < length) return 0;
		const piece = at.subarray(0, length);
		if (this.#extended !== undefined) this.#takeRecords(piece, this.#extended);
		else if (isZero(piece)) this.#takeZeros(piece);
		else this.#takeHeader(piece);
		return length;
	}

	#headerLength(): number {
		return this.#extended === undefined ? BLOCK : padded(this.#extended);
	}

	#content(at: Buffer, member: TarMember): number {
		const isData = this.#data > 0;
		const piece = at.subarray(0, isData ? this.#data : this.#padding);
		if (piece.length === 0) return 0;
		if (isData) {
			this.#data -= piece.length;
			this.#visitor.data?.(piece);
		} else {
			this.#padding -= piece.length;
		}
		this.#visitor.raw?.(piece);
		if (this.#data === 0 && this.#padding === 0) this.#finish(member);
		return piece.length;
	}

	#finish(member: TarMember): void {
		this.#member = undefined;
		this.#visitor.memberEnd?.(member);
	}

	#takeRecords(piece: Buffer, size: number): void {
		this.#records = readRecords(piece.subarray(0, size));
		this.#extended = undefined;
		this.#headers.push(piece);
	}

	#takeZeros(piece: Buffer): void {
		if (this.#headers.length > 0) throw new ArchiveFault("has an extended header of nothing");
		this.#zeros += 1;
		this.#visitor.raw?.(piece);
	}

	#takeHeader(piece: Buffer): void {
		if (this.#zeros > 0) throw new ArchiveFault("goes on after its end");
		const block = readBlock(piece);
		this.#headers.push(piece);
		if (block.type === EXTENDED) {
			if (this.#headers.length > 1) throw new ArchiveFault("has two extended headers of one member");
			if (block.size === 0 || block.size > MAX_EXTENDED)
				throw new ArchiveFault("has an extended header of a size that none has");
			this.#extended = block.size;
			return;
		}
		const member = toMember(block, this.#records);
		const headers = this.#headers;
		this.#records = NO_RECORDS;
		this.#headers = [];
		const headerBytes = headers.reduce((sum, { length }) => sum + length, 0);
		this.#visitor.member(member, headerBytes);
		for (const header of headers) this.#visitor.raw?.(header);
		this.#data = member.size;
		this.#padding = padded(member.size) - member.size;
		if (member.size === 0) this.#finish(member);
		else this.#member = member;
	}
}

function padded(size: number): number {
	return Math.ceil(size / BLOCK) * BLOCK;
}

const ZERO_BLOCK = Buffer.alloc(BLOCK);

function isZero(block: Buffer): boolean {
	return block.equals(ZERO_BLOCK);
}
