import { createHash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { errnoOf, errnoText, isSystemError, SandboxerError } from "../errors";
import { UnnamedFile } from "../transport";
import { decompression } from "./compression";
import { InspectedArchive, stopped } from "./inspected-archive";
import { Inspector } from "./inspector";
import type { SnapshotLimits } from "./limits";
import { FILES, type Manifest } from "./manifest";
import { RunningSum } from "./running-sum";
import { ArchiveFault, CutShort, faultText } from "./tar-header";
import { TarReader } from "./tar-reader";

const CHUNK_BYTES = 256 * 1024;

export interface InspectOptions {
	readonly limits: SnapshotLimits;
	/** On the disk that is to keep what the archive holds until it is unpacked. */
	readonly directory: string;
	/** Fires when the caller is gone, or the time is up. */
	readonly signal: AbortSignal;
}

/**
 * Looks at all of a snapshot's archive, before anything of it gets a name: every member, and the whole against its
 * manifest. It is read once: what was looked at is kept aside, and that is what is unpacked.
 *
 * @param folder - Of the snapshot.
 * @throws SandboxerError `invalid`, with the member and the archive, at the first that may not be restored;
 * `preflight` where there is no room, `unknown` where it cannot be read, `aborted`.
 *
 * @example
 * ```ts
 * const archive = await inspectArchive(folder, manifest, { limits: DEFAULT_LIMITS, directory, signal });
 * try {
 *   await archive.unpack(tarSettings, signal);
 * } finally {
 *   await archive.close();
 * }
 * ```
 */
export async function inspectArchive(
	folder: string,
	manifest: Manifest,
	{ limits, directory, signal }: InspectOptions,
): Promise<InspectedArchive> {
	const file = join(folder, FILES.archive);
	const archive = await opened(file);
	let content: UnnamedFile | undefined;
	try {
		const sums = await readFile(join(folder, FILES.sums));
		if (sha256(sums) !== manifest.sums_sha256) throw new ArchiveFault("has other sums than its manifest tells of");
		content = new UnnamedFile(directory);
		const found = await readThrough(archive, new Inspector(manifest, limits), signal, content);
		if (found !== manifest.sha256) {
			// The sum of the whole vouches for its members. Where it does not, theirs say which one it is.
			await readThrough(archive, new Inspector(manifest, limits, sums), signal);
			throw new ArchiveFault("is not the one that its manifest tells of");
		}
		return new InspectedArchive(manifest.snapshot_id, content);
	} catch (thrown) {
		await content?.close();
		throw signal.aborted ? stopped(manifest.snapshot_id, signal) : refusal(thrown, manifest, file, directory);
	} finally {
		await archive.close();
	}
}

async function opened(file: string): Promise<FileHandle> {
	try {
		return await open(file, "r");
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
 * Shows all of an archive to an inspector, and the sum of the whole.
 *
 * @param content - Gets each piece once it was looked at.
 */
async function readThrough(
	archive: FileHandle,
	inspector: Inspector,
	signal: AbortSignal,
	content?: UnnamedFile,
): Promise<string> {
	const sum = new RunningSum();
	const reader = new TarReader(inspector);
	await pipeline(
		archive.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES }),
		(source: AsyncIterable<Buffer>) => sum.pass(source),
		decompression(),
		async (source: AsyncIterable<Buffer>) => {
			for await (const chunk of source) {
				reader.push(chunk);
				await content?.write(chunk);
			}
		},
		{ signal },
	);
	reader.end();
	inspector.end();
	return sum.result().sha256;
}

function refusal(thrown: unknown, { snapshot_id }: Manifest, file: string, directory: string): SandboxerError {
	const fault = thrown instanceof ArchiveFault ? thrown : zlibFault(thrown);
	if (fault !== undefined)
		return new SandboxerError({
			code: "invalid",
			message: `Snapshot ${snapshot_id} is refused, archive ${JSON.stringify(file)}: ${faultText(fault)}.`,
			hint: "Nothing of it was unpacked and no sandbox was made. Restore another snapshot.",
			details: { snapshot_id, ...(fault.member === undefined ? {} : { member: fault.member }) },
			cause: thrown,
		});
	if (!isSystemError(thrown)) return SandboxerError.from(thrown);
	return new SandboxerError({
		code: "preflight",
		message: `Snapshot ${snapshot_id}, archive ${JSON.stringify(file)}, could not be read into ${directory}: ${errnoText(thrown)}. No sandbox was made.`,
		hint: "See that this user may write there, and that the disk has room for what the snapshot holds twice: until it is unpacked it is kept there too.",
		details: { snapshot_id, directory },
		cause: thrown,
	});
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
