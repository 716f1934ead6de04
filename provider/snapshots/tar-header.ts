import { pathText } from "../workspace";

/** The unit that everything in a tar archive is padded to, in bytes. */
export const BLOCK = 512;

/** What is wrong with an archive, as the continuation of a sentence that begins with it or with its member. */
export class ArchiveFault extends Error {
	/** @param member - Its name, each byte one character, where it is known. */
	constructor(
		readonly reason: string,
		readonly member?: string,
	) {
		super(reason);
	}
}

/** `member "a/b" is a fifo`, or the fact alone where no member is to blame. */
export function faultText({ member, reason }: ArchiveFault): string {
	return member === undefined ? `it ${reason}` : `member ${pathText(Buffer.from(member, "latin1"))} ${reason}`;
}

/** The archive ended before its end. */
export class CutShort extends ArchiveFault {
	constructor(member?: string) {
		super("is cut short", member);
	}
}

/** What a member is. */
export type MemberKind = "file" | "directory" | "symlink" | "hardlink" | "fifo" | "device";

/** A member as its headers tell it. Names are bytes, each one character (latin1). */
export interface TarMember {
	readonly kind: MemberKind;
	readonly name: string;
	/** Of a link. */
	readonly target: string;
	/** All twelve bits. */
	readonly mode: number;
	/** Bytes that follow the headers; of a sparse file its map and what is not a hole. */
	readonly size: number;
	/** Its data begins with a map of what is not a hole. */
	readonly isSparse: boolean;
}

/** The fields of one header block, before the extended header that went before it is taken into account. */
export interface HeaderBlock {
	readonly type: string;
	readonly name: string;
	readonly target: string;
	readonly mode: number;
	readonly size: number;
}

const KINDS: Readonly<Record<string, MemberKind>> = {
	"0": "file",
	"1": "hardlink",
	"2": "symlink",
	"3": "device",
	"4": "device",
	"5": "directory",
	"6": "fifo",
};

/** Type of an extended header of one member. */
export const EXTENDED = "x";

/** Keys of an extended header that mean something here, or nothing to anybody: owners and times of access are not restored. */
const KNOWN_KEYS = new Set(["path", "linkpath", "size", "mtime", "atime", "ctime", "uid", "gid", "uname", "gname"]);
const SPARSE_KEYS = ["GNU.sparse.major", "GNU.sparse.minor", "GNU.sparse.name", "GNU.sparse.realsize"] as const;
const USER_ATTRIBUTE = "SCHILY.xattr.user.";

/** Reads one header block, strictly: what two programs could read in two ways is refused. */
export function readBlock(block: Buffer): HeaderBlock {
	if (block.toString("latin1", 257, 265) !== "ustar\x0000")
		throw new ArchiveFault("is not a tar archive of format pax");
	let sum = 8 * 0x20;
	for (let index = 0; index < BLOCK; index += 1) if (index < 148 || index >= 156) sum += block[index] as number;
	if (sum !== octal(block, 148, 8, "checksum")) throw new ArchiveFault("has a header whose checksum is wrong");
	const prefix = text(block, 345, 155);
	const name = text(block, 0, 100);
	return {
		type: block.toString("latin1", 156, 157),
		name: prefix === "" ? name : `${prefix}/${name}`,
		target: text(block, 157, 100),
		mode: octal(block, 100, 8, "mode"),
		size: octal(block, 124, 12, "size"),
	};
}

function text(block: Buffer, start: number, length: number): string {
	const end = block.indexOf(0, start);
	return block.toString("latin1", start, end === -1 ? start + length : Math.min(end, start + length));
}

function octal(block: Buffer, start: number, length: number, field: string): number {
	const digits = /^([0-7]+)[ \0]*$/.exec(block.toString("latin1", start, start + length))?.[1];
	if (digits === undefined) throw new ArchiveFault(`has a header whose ${field} is not an octal number`);
	return Number.parseInt(digits, 8);
}

/** The records of an extended header: `<length> <key>=<value>\n`, nothing else, no key twice. */
export function readRecords(body: Buffer): Map<string, string> {
	const records = new Map<string, string>();
	let rest = body.toString("latin1");
	while (rest !== "") {
		const [digits = ""] = /^[1-9][0-9]{0,8}(?= )/.exec(rest) ?? [];
		const record = rest.slice(0, Number(digits));
		const equals = record.indexOf("=");
		if (digits === "" || record.length !== Number(digits) || equals <= digits.length || !record.endsWith("\n"))
			throw new ArchiveFault("has an extended header that is damaged");
		const key = record.slice(digits.length + 1, equals);
		if (records.has(key)) throw new ArchiveFault(`has an extended header with ${JSON.stringify(key)} twice`);
		records.set(key, record.slice(equals + 1, -1));
		rest = rest.slice(record.length);
	}
	return records;
}

/** A member, from its header block and the records that went before it. */
export function toMember(block: HeaderBlock, records: ReadonlyMap<string, string>): TarMember {
	const sparseName = records.get("GNU.sparse.name");
	const name = sparseName ?? records.get("path") ?? block.name;
	const fault = (reason: string) => new ArchiveFault(reason, name);
	for (const [key, value] of records) {
		const isSparseKey = (SPARSE_KEYS as readonly string[]).includes(key);
		if (!KNOWN_KEYS.has(key) && !isSparseKey && !key.startsWith(USER_ATTRIBUTE))
			throw fault(`carries ${JSON.stringify(key)}, which no snapshot holds`);
		if (value.includes("\0") && !key.startsWith(USER_ATTRIBUTE)) throw fault(`has a NUL character in its ${key}`);
	}
	const kind = KINDS[block.type];
	// What follows it may be more of its headers: nothing after it can be told.
	if (kind === undefined) throw fault("is of a type that no snapshot holds");
	if (kind !== "directory" && name.endsWith("/")) throw fault("has the name of a directory and is none");
	const isSparse = SPARSE_KEYS.some((key) => records.has(key));
	if (isSparse && !(kind === "file" && isSparseFormat(records)))
		throw fault("is sparse in a format that is not read here");
	const size = records.has("size") ? decimal(records.get("size")) : block.size;
	if (size === undefined) throw fault("has a size that is not a number");
	// Some programs skip the data of a link or directory, others take it for the next header.
	if (kind !== "file" && size !== 0) throw fault("is no file, but has a size");
	return { kind, name, target: records.get("linkpath") ?? block.target, mode: block.mode & 0o7777, size, isSparse };
}

function isSparseFormat(records: ReadonlyMap<string, string>): boolean {
	const [major, minor, name = "", realsize] = SPARSE_KEYS.map((key) => records.get(key));
	return major === "1" && minor === "0" && name !== "" && decimal(realsize) !== undefined;
}

function decimal(digits: string | undefined): number | undefined {
	const value = /^[0-9]+$/.test(digits ?? "") ? Number(digits) : Number.NaN;
	return Number.isSafeInteger(value) ? value : undefined;
}
