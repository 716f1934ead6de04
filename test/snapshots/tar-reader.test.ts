import { execFileSync, spawnSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { ArchiveFault, BLOCK, type TarMember } from "../../provider/snapshots/tar-header";
import { TarReader } from "../../provider/snapshots/tar-reader";

const root = mkdtempSync(join(tmpdir(), "snapshots-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A small archive as a snapshot's, not compressed. */
function anArchive(): Buffer {
	const tree = join(root, "tree");
	mkdirSync(join(tree, "folder"), { recursive: true });
	writeFileSync(join(tree, "folder/file"), "contents");
	writeFileSync(join(tree, "empty"), "");
	writeFileSync(join(tree, `${"n".repeat(120)}`), "long name");
	writeFileSync(join(tree, "block"), "b".repeat(BLOCK));
	symlinkSync("file", join(tree, "folder/link"));
	linkSync(join(tree, "folder/file"), join(tree, "hard"));
	execFileSync("truncate", ["-s", "1M", join(tree, "sparse")]);
	const words = [
		"--create",
		"--format=pax",
		"--sparse",
		"--sparse-version=1.0",
		"--file=-",
		`--directory=${tree}`,
		".",
	];
	return execFileSync("tar", words, { maxBuffer: 2 ** 24 });
}

interface Read {
	readonly members: TarMember[];
	readonly data: Map<string, string>;
	readonly raw: Buffer;
}

/** What the reader tells of an archive that comes in pieces of some size. */
function read(archive: Buffer, pieceBytes = archive.length): Read {
	const members: TarMember[] = [];
	const data = new Map<string, string>();
	const raw: Buffer[] = [];
	const ended: string[] = [];
	const reader = new TarReader({
		member: (member) => members.push(member),
		data: (bytes) => {
			const { name } = members.at(-1) as TarMember;
			data.set(name, (data.get(name) ?? "") + bytes.toString("latin1"));
		},
		memberEnd: ({ name }) => ended.push(name),
		raw: (bytes) => raw.push(Buffer.from(bytes)),
	});
	for (let at = 0; at < archive.length; at += pieceBytes) reader.push(archive.subarray(at, at + pieceBytes));
	reader.end();
	expect(ended).toEqual(members.map(({ name }) => name));
	return { members, data, raw: Buffer.concat(raw) };
}

const archive = anArchive();

it("tells the same whatever the pieces are, and passes every byte on", () => {
	const whole = read(archive);
	expect(whole.raw.equals(archive)).toBe(true);
	expect(whole.data.get("./folder/file") ?? whole.data.get("./hard")).toBe("contents");
	for (const pieceBytes of [1, 7, 511, 512, 513, 1000, 10_240]) {
		const { members, data, raw } = read(archive, pieceBytes);
		expect({ pieceBytes, members }).toEqual({ pieceBytes, members: whole.members });
		expect(data).toEqual(whole.data);
		expect(raw.equals(archive)).toBe(true);
	}
});

it("tells what another reader tells", () => {
	const script = `
import io, json, sys, tarfile
kinds = {tarfile.REGTYPE: "file", tarfile.LNKTYPE: "hardlink", tarfile.SYMTYPE: "symlink", tarfile.DIRTYPE: "directory"}
for m in tarfile.open(fileobj=io.BytesIO(sys.stdin.buffer.read())):
    print(json.dumps({"name": m.name, "kind": kinds[m.type], "target": m.linkname, "mode": m.mode}))`;
	const lines = execFileSync("python3", ["-c", script], { input: archive, encoding: "utf8" }).trim().split("\n");
	const ours = read(archive).members.map(({ name, kind, target, mode }) => {
		return { name: name.replace(/\/$/, ""), kind, target, mode };
	});
	expect(ours).toEqual(lines.map((line) => JSON.parse(line) as object));
});

it("cut short anywhere, it is refused", () => {
	// tar pads an archive with more zeros than its end has.
	const end = archive.length - (archive.length - lastData(archive)) + 2 * BLOCK;
	fc.assert(
		fc.property(fc.integer({ min: 0, max: end - 1 }), (length) => {
			expect(() => read(archive.subarray(0, length))).toThrow("is cut short");
		}),
	);
});

/** Where the zeros at the end begin. */
function lastData(bytes: Buffer): number {
	let at = bytes.length;
	while (bytes.subarray(at - BLOCK, at).every((byte) => byte === 0)) at -= BLOCK;
	return at;
}

/** Where the header blocks of the archive are. */
function headers(): number[] {
	const found: number[] = [];
	for (let at = 0; at < archive.length; at += BLOCK)
		if (archive.toString("latin1", at + 257, at + 262) === "ustar") found.push(at);
	return found;
}

/** The archive with a few bytes of one header, or of an extended header's body, set to others, its checksum right. */
function mutated(header: number, changes: readonly (readonly [number, number])[]): Buffer {
	const bytes = Buffer.from(archive);
	for (const [offset, value] of changes) bytes[header + offset] = value;
	bytes.write("        ", header + 148, "latin1");
	let sum = 0;
	for (const byte of bytes.subarray(header, header + BLOCK)) sum += byte;
	bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, header + 148, "latin1");
	return bytes;
}

it("whatever is changed in a header: it is refused, or tar reads the same members", () => {
	// Bytes that mean something in a header are tried more often than others.
	const telling = fc.constantFrom(
		..."01234567xgLKSDMNV7\0 -/.".split("").map((letter) => letter.charCodeAt(0)),
		0x80,
		0xff,
	);
	const offset = fc.oneof(
		{ weight: 3, arbitrary: fc.constantFrom(156, 124, 125, 134, 135, 100, 157, 257, 263, 345, 0, 1, 2) },
		{ weight: 2, arbitrary: fc.integer({ min: 0, max: BLOCK - 1 }) },
		{ weight: 2, arbitrary: fc.integer({ min: BLOCK, max: BLOCK + 120 }) },
	);
	const change = fc.tuple(offset, fc.oneof(telling, fc.integer({ min: 0, max: 255 })));
	let accepted = 0;
	fc.assert(
		fc.property(fc.constantFrom(...headers()), fc.array(change, { minLength: 1, maxLength: 3 }), (header, changes) => {
			const bytes = mutated(header, changes);
			let ours: TarMember[];
			try {
				ours = read(bytes).members;
			} catch (thrown) {
				expect(thrown).toBeInstanceOf(ArchiveFault);
				return;
			}
			accepted += 1;
			const words = ["--list", "--file=-", "--absolute-names", "--quoting-style=c", "--verbose", "--numeric-owner"];
			const { stdout } = spawnSync("tar", words, { input: bytes, env: { PATH: process.env.PATH ?? "", LC_ALL: "C" } });
			const theirs = stdout.toString("latin1").split("\n").slice(0, -1);
			expect(theirs.map((line) => line.charAt(0).replace("b", "c"))).toEqual(ours.map(({ kind }) => LETTERS[kind]));
			const names = theirs.map((line) => /"((?:[^"\\]|\\.)*)"/.exec(line)?.[1]);
			expect(names).toEqual(ours.map(({ name }) => quoted(name)));
		}),
		{ numRuns: 600 },
	);
	expect(accepted).toBeGreaterThan(20);
});

const LETTERS: Readonly<Record<TarMember["kind"], string>> = {
	file: "-",
	directory: "d",
	symlink: "l",
	hardlink: "h",
	fifo: "p",
	device: "c",
};

/** As tar's quoting style c writes a name. */
function quoted(name: string): string {
	const known: Record<string, string> = {
		"\n": "\\n",
		"\t": "\\t",
		"\r": "\\r",
		"\b": "\\b",
		"\f": "\\f",
		"\v": "\\v",
		"\x07": "\\a",
		'"': '\\"',
		"\\": "\\\\",
	};
	return [...name]
		.map((letter) => {
			const code = letter.charCodeAt(0);
			if (known[letter] !== undefined) return known[letter];
			return code < 0x20 || code > 0x7e ? `\\${code.toString(8).padStart(3, "0")}` : letter;
		})
		.join("");
}
