import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errnoText, isSystemError, SandboxerError } from "../errors";
import { plainPathText } from "../workspace";
import { ArchiveTree, shown } from "./archive-tree";
import { compression } from "./compression";
import { KeptBytes } from "./kept-bytes";
import { type SnapshotLimits, Tally } from "./limits";
import { FILES, MAX_TOLD, type Manifest } from "./manifest";
import { RunningSum } from "./running-sum";
import { SumsFile } from "./sums-file";
import { ArchiveFault, CutShort, faultText, type TarMember } from "./tar-header";
import { endGroup, endOf, findTar, startTar, type TarSettings } from "./tar-program";
import { TarReader, type TarVisitor } from "./tar-reader";

/** What tar answers where something changed while it was read. */
const CHANGED_MEANWHILE = 1;

/** No owner goes in: that of a restore is the new sandbox's. Nor setuid, setgid and sticky, as in a copy. */
const CREATE = [
	...["--create", "--file=-", "--format=pax", "--sparse", "--sparse-version=1.0"],
	...["--xattrs", "--xattrs-include=user.*", "--one-file-system"],
	...["--owner=0", "--group=0", "--numeric-owner", "--mode=u-s,g-s,-t"],
];

export interface CaptureOptions extends TarSettings {
	/** What is read, for messages: `sandbox demo`. */
	readonly what: string;
	/** An empty folder; the archive and the sums go there. */
	readonly folder: string;
	readonly limits: SnapshotLimits;
	/** Fires when the caller is gone, or the time is up. */
	readonly signal: AbortSignal;
}

/** What became of it. */
export type Captured = Pick<
	Manifest,
	| "size_bytes"
	| "sha256"
	| "sums_sha256"
	| "file_count"
	| "unpacked_bytes"
	| "consistent"
	| "changed"
	| "changed_count"
	| "left_out"
	| "left_out_count"
>;

/**
 * Writes a tree into an archive, reading it once: its members are summed and sorted out of the stream that
 * tar writes. tar follows no link and crosses no mount.
 *
 * A file that changes meanwhile is in it as it was read, and told. On return archive and sums are on the disk;
 * after a failure they are of no use.
 *
 * @throws SandboxerError `unknown` where tar could not read all of it, `preflight` where there is no GNU tar or
 * no room, `unsupported` over the limits, `aborted`.
 */
export async function capture(options: CaptureOptions): Promise<Captured> {
	const { folder, signal } = options;
	const tar = await findTar(options, signal);
	const file = join(folder, FILES.archive);
	const sums = SumsFile.create(join(folder, FILES.sums));
	try {
		const sorter = new Sorter(options, sums);
		const child = startTar(tar, [...CREATE, `--directory=${options.directory}`, "."], options, [
			"ignore",
			"pipe",
			"pipe",
		]);
		const end = endOf(child);
		const words = listen(child.stderr as Readable);
		const sum = new RunningSum();
		const failure: unknown = await pipeline(
			child.stdout as Readable,
			(source: AsyncIterable<Buffer>) => sorter.sort(source),
			compression(),
			(source: AsyncIterable<Buffer>) => sum.pass(source),
			createWriteStream(file, { flags: "wx", mode: 0o600, flush: true }),
			{ signal },
		).then(
			() => undefined,
			(thrown: unknown) => thrown,
		);
		if (failure !== undefined) endGroup(child);
		const ended = await end;
		const said = await words;
		if (failure !== undefined || (ended !== 0 && ended !== CHANGED_MEANWHILE))
			throw trouble(options, failure, ended, said);
		return { sums_sha256: sums.finish(), ...sum.result(), ...sorter.result(said, ended === 0) };
	} finally {
		sums.close();
	}
}

/** A list of which the first few are told. */
class Told<T> {
	readonly first: T[] = [];
	count = 0;

	add(item: T): void {
		this.count += 1;
		if (this.first.length < MAX_TOLD) this.first.push(item);
	}
}

/** Leaves out what no restore would take, sums the files, counts. */
class Sorter implements TarVisitor {
	readonly #options: CaptureOptions;
	readonly #sums: SumsFile;
	readonly #tree = new ArchiveTree();
	readonly #tally: Tally;
	readonly #kept = new KeptBytes();
	readonly #leftOut = new Told<{ path: string; reason: string }>();
	#isKept = true;
	#hash = createHash("sha256");

	constructor(options: CaptureOptions, sums: SumsFile) {
		this.#options = options;
		this.#sums = sums;
		this.#tally = new Tally(options.limits);
	}

	async *sort(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
		const reader = new TarReader(this);
		for await (const chunk of source) {
			reader.push(chunk);
			yield* this.#kept.full();
		}
		reader.end();
		const link = this.#tree.leadingOut();
		if (link !== undefined)
			throw new ArchiveFault(`is a link that leads out through others (${shown(link.target)})`, link.name);
		yield* this.#kept.rest();
	}

	member(member: TarMember, headerBytes: number): void {
		const fault = this.#tree.add(member);
		this.#isKept = fault === undefined;
		if (fault !== undefined) {
			this.#leftOut.add({ path: withoutDot(plainPathText(Buffer.from(member.name, "latin1"))), reason: fault });
			return;
		}
		if (member.kind === "file") this.#hash = createHash("sha256");
		const over = this.#tally.add(member, headerBytes);
		if (over !== undefined) throw tooLarge(this.#options.what, over);
	}

	data(bytes: Buffer): void {
		if (this.#isKept) this.#hash.update(bytes);
	}

	memberEnd(member: TarMember): void {
		if (this.#isKept && member.kind === "file") this.#sums.add(member, this.#hash);
		// What comes now is the next one's, or the archive's end.
		this.#isKept = true;
	}

	raw(bytes: Buffer): void {
		if (this.#isKept) this.#kept.add(bytes);
	}

	result(said: Said, isConsistent: boolean): Omit<Captured, "size_bytes" | "sha256" | "sums_sha256"> {
		return {
			file_count: this.#tally.files,
			unpacked_bytes: this.#tally.bytes,
			consistent: isConsistent,
			changed: said.changed.first,
			changed_count: said.changed.count,
			left_out: [...this.#leftOut.first, ...said.leftOut.first].slice(0, MAX_TOLD),
			left_out_count: this.#leftOut.count + said.leftOut.count,
		};
	}
}

/** What tar said on its standard error. */
interface Said {
	readonly changed: Told<string>;
	readonly leftOut: Told<{ path: string; reason: string }>;
	readonly other: Told<string>;
}

const CHANGED = /^(file changed as we read it|File removed before we read it|File shrank by .*)$/;

async function listen(stderr: Readable): Promise<Said> {
	const said = {
		changed: new Told<string>(),
		leftOut: new Told<{ path: string; reason: string }>(),
		other: new Told<string>(),
	};
	for await (const line of createInterface({ input: stderr })) {
		const [, name = "", words = ""] = /^\S*tar: (.+): (.+)$/.exec(line) ?? [];
		if (CHANGED.test(words)) said.changed.add(withoutDot(name));
		else if (words === "socket ignored") said.leftOut.add({ path: withoutDot(name), reason: "is a socket" });
		else said.other.add(line);
	}
	return said;
}

/** `./a/b` → `a/b`. */
function withoutDot(name: string): string {
	return name.replace(/^\.\/+(?=.)/, "");
}

function tooLarge(what: string, over: string): SandboxerError {
	return new SandboxerError({
		code: "unsupported",
		message: `No snapshot of ${what} was taken: its workspace ${over}.`,
		hint: "Remove what is not needed in it.",
	});
}

/** Why there is no snapshot. What ended tar comes before what tar's end then led to. */
function trouble(
	{ what, folder, signal }: CaptureOptions,
	failure: unknown,
	ended: number | string,
	said: Said,
): SandboxerError {
	if (failure instanceof SandboxerError) return failure;
	if (signal.aborted)
		return new SandboxerError({
			code: isTimeout(signal.reason) ? "timeout" : "aborted",
			message: `The snapshot of ${what} was stopped before its end. Nothing was kept.`,
			hint: "Run again, with more time if it was too short.",
			cause: failure,
		});
	if (isSystemError(failure))
		return new SandboxerError({
			code: "preflight",
			message: `The snapshot of ${what} could not be written to ${folder}: ${errnoText(failure)}. Nothing was kept.`,
			hint: "See that this user may write there and that the disk has room.",
			details: { directory: folder },
			cause: failure,
		});
	const words = said.other.first.slice(0, 3).join("; ");
	const why =
		failure instanceof ArchiveFault && !(failure instanceof CutShort && ended !== 0)
			? faultText(failure)
			: `tar ended with ${ended}${words === "" ? "" : `: ${words}`}`;
	return new SandboxerError({
		code: "unknown",
		message: `The snapshot of ${what} failed: ${why}. Nothing was kept.`,
		hint: "Make what it names readable for the sandbox's own user, or remove it, then run again.",
		cause: failure,
	});
}

/** What `AbortSignal.timeout` gives as its reason. */
function isTimeout(reason: unknown): boolean {
	return typeof reason === "object" && reason !== null && "name" in reason && reason.name === "TimeoutError";
}
