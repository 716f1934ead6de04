import { createHash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errnoOf, errnoText, SandboxerError } from "../errors";
import { decompression } from "./compression";
import { Inspector } from "./inspector";
import type { SnapshotLimits } from "./limits";
import { FILES, type Manifest } from "./manifest";
import { ArchiveFault, CutShort, faultText } from "./tar-header";
import { endGroup, endOf, findTar, startTar, type TarSettings } from "./tar-program";
import { TarReader } from "./tar-reader";

const CHUNK_BYTES = 256 * 1024;

/** How a pipe fails whose reader has ended. */
const PIPE_CLOSED = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"]);

/**
 * Nothing of it is trusted, though all of it was looked at: no owner, no other attributes than a user's own,
 * nothing that is there already is written over. Modes are as they were, since none is setuid.
 */
const EXTRACT = [
	...["--extract", "--file=-", "--no-same-owner", "--same-permissions", "--keep-old-files"],
	...["--xattrs", "--xattrs-include=user.*", "--delay-directory-restore"],
];

/**
 * The archive of a snapshot, held open: what was inspected is what is unpacked.
 *
 * @example
 * ```ts
 * const archive = await StoredArchive.open(folder, manifest);
 * try {
 *   await archive.inspect(DEFAULT_LIMITS, signal);
 *   await archive.unpack({ path, confinement, directory }, signal);
 * } finally {
 *   await archive.close();
 * }
 * ```
 */
export class StoredArchive {
	readonly #handle: FileHandle;

	private constructor(
		readonly manifest: Manifest,
		private readonly folder: string,
		handle: FileHandle,
	) {
		this.#handle = handle;
	}

	static async open(folder: string, manifest: Manifest): Promise<StoredArchive> {
		const file = join(folder, FILES.archive);
		try {
			return new StoredArchive(manifest, folder, await open(file, "r"));
		} catch (cause) {
			throw new SandboxerError({
				code: "unknown",
				message: `Snapshot archive ${JSON.stringify(file)} cannot be opened: ${errnoText(cause)}.`,
				hint: "Only the user that took a snapshot, or root, may restore it.",
				cause,
			});
		}
	}

	/**
	 * Looks at all of it, and writes nothing: every member, and the whole against its manifest.
	 *
	 * @throws SandboxerError `invalid`, with the member and the archive, at the first that may not be restored.
	 */
	async inspect(limits: SnapshotLimits, signal: AbortSignal): Promise<void> {
		try {
			const sums = await readFile(join(this.folder, FILES.sums));
			if (sha256(sums) !== this.manifest.sums_sha256)
				throw new ArchiveFault("has other sums than its manifest tells of");
			const found = await this.#read(new Inspector(this.manifest, limits), signal);
			if (found === this.manifest.sha256) return;
			// The sum of the whole vouches for its members. Where it does not, theirs say which one it is.
			await this.#read(new Inspector(this.manifest, limits, sums), signal);
			throw new ArchiveFault("is not the one that its manifest tells of");
		} catch (thrown) {
			throw this.#refusal(thrown, signal);
		}
	}

	/** Shows all of it to an inspector; the sum of the whole. */
	async #read(inspector: Inspector, signal: AbortSignal): Promise<string> {
		const hash = createHash("sha256");
		const reader = new TarReader(inspector);
		await pipeline(
			this.#compressed(),
			async function* (source: AsyncIterable<Buffer>) {
				for await (const chunk of source) {
					hash.update(chunk);
					yield chunk;
				}
			},
			decompression(),
			async (source: AsyncIterable<Buffer>) => {
				for await (const chunk of source) reader.push(chunk);
			},
			{ signal },
		);
		reader.end();
		inspector.end();
		return hash.digest("hex");
	}

	/**
	 * Unpacks it into an empty directory. Only after `inspect`.
	 *
	 * @throws SandboxerError `preflight` where tar could not write all of it; the directory is then of no use.
	 */
	async unpack(settings: TarSettings, signal: AbortSignal): Promise<void> {
		const tar = await findTar(settings, signal);
		const child = startTar(tar, [...EXTRACT, `--directory=${settings.directory}`], settings, [
			"pipe",
			"ignore",
			"pipe",
		]);
		const end = endOf(child);
		const said: Buffer[] = [];
		child.stderr?.on("data", (chunk: Buffer) => {
			if (said.length < 10) said.push(chunk);
		});
		let failure: unknown;
		try {
			await pipeline(this.#compressed(), decompression(), child.stdin as NodeJS.WritableStream, {
				signal,
			});
		} catch (thrown) {
			failure = thrown;
			if (signal.aborted) endGroup(child);
		}
		const ended = await end;
		if (signal.aborted) throw this.#stopped(signal);
		// tar reads no further than the archive's end, and may be gone before what pads it has been written.
		const isRead = failure === undefined || PIPE_CLOSED.has(errnoOf(failure) ?? "");
		if (ended === 0 && isRead) return;
		const words = Buffer.concat(said).toString().trim().split("\n").slice(0, 3).join("; ");
		throw new SandboxerError({
			code: "preflight",
			message: `Snapshot ${this.manifest.snapshot_id} could not be unpacked: tar ended with ${ended}: ${words}.`,
			hint: "See that the disk has room.",
			details: { snapshot_id: this.manifest.snapshot_id },
			cause: failure,
		});
	}

	async close(): Promise<void> {
		await this.#handle.close();
	}

	#compressed(): Readable {
		return this.#handle.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES });
	}

	#refusal(thrown: unknown, signal: AbortSignal): SandboxerError {
		if (signal.aborted) return this.#stopped(signal);
		const { snapshot_id } = this.manifest;
		const fault = thrown instanceof ArchiveFault ? thrown : zlibFault(thrown);
		if (fault === undefined) return SandboxerError.from(thrown);
		return new SandboxerError({
			code: "invalid",
			message: `Snapshot ${snapshot_id} is refused, archive ${JSON.stringify(join(this.folder, FILES.archive))}: ${faultText(fault)}.`,
			hint: "Nothing was written and no sandbox was made. Restore another snapshot.",
			details: { snapshot_id, ...(fault.member === undefined ? {} : { member: fault.member }) },
			cause: thrown,
		});
	}

	#stopped(signal: AbortSignal): SandboxerError {
		return new SandboxerError({
			code: "aborted",
			message: `The restore of snapshot ${this.manifest.snapshot_id} was stopped.`,
			cause: signal.reason,
		});
	}
}

function sha256(bytes: Buffer): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/** What zlib says of data that is no gzip, or not all of it. */
function zlibFault(thrown: unknown): ArchiveFault | undefined {
	const code = errnoOf(thrown);
	if (code === "Z_BUF_ERROR") return new CutShort();
	return code === "Z_DATA_ERROR" ? new ArchiveFault("is damaged, or no gzip file") : undefined;
}
