import { join } from "node:path";
import { z } from "zod";
import { sandboxIdSchema } from "../documents/words";
import { readRecordFile } from "../records";

/** At most this many paths are told of what changed or was left out; the count tells of all. */
export const MAX_TOLD = 20;

/** Files in a snapshot's folder. The folder itself makes it exist: it gets its name when all of them are whole. */
export const FILES = {
	archive: "archive.tar.gz",
	/** Sums of the single files, a line of JSON each, in the archive's order. */
	sums: "files.jsonl",
	manifest: "manifest.json",
} as const;

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, "must be a sha256, in hexadecimal");
const countSchema = z.number().int().nonnegative();

/** What is known of a snapshot beside its archive. snake_case, nothing secret. */
export const manifestSchema = z.object({
	manifest_version: z.literal(1),
	extension: z.string(),
	snapshot_id: sandboxIdSchema,
	kind: z.literal("workspace"),
	sandbox_id: z.string(),
	/** Which life of the sandbox. */
	generation: z.number().int(),
	profile: z.object({ id: z.string(), version: z.string() }),
	/** The resource that it was taken for. */
	owner: z.object({ scope: z.string(), project: z.string(), stack: z.string(), urn: z.string() }).optional(),
	created_at: z.iso.datetime(),
	expires_at: z.iso.datetime().optional(),
	/** Of the archive. */
	size_bytes: countSchema,
	sha256: sha256Schema,
	/** Of the file with the sums of the single files. */
	sums_sha256: sha256Schema,
	/** Files and links, not directories. */
	file_count: countSchema,
	/** What the files hold, in bytes, holes not counted. */
	unpacked_bytes: countSchema,
	consistent: z.boolean(),
	changed: z.array(z.string()).max(MAX_TOLD),
	changed_count: countSchema,
	/** What an archive cannot hold, or a restore would refuse. */
	left_out: z.array(z.object({ path: z.string(), reason: z.string() })).max(MAX_TOLD),
	left_out_count: countSchema,
	labels: z.record(z.string(), z.string()),
});
export type Manifest = z.output<typeof manifestSchema>;

/** The manifest in a snapshot's folder; undefined where there is no such folder. */
export function readManifest(folder: string): Promise<Manifest | undefined> {
	const file = join(folder, FILES.manifest);
	return readRecordFile(file, manifestSchema, {
		what: `The manifest ${file} of a snapshot`,
		unreadable: "Only the user that took a snapshot, or root, may use it.",
		damaged: "Look at it; if the snapshot is not wanted any more, remove its folder.",
	});
}

/** The line of a file among the sums. A name that is no text is told by its bytes. */
export function sumLine(name: string, size: number, sha256: string): string {
	const bytes = Buffer.from(name, "latin1");
	const text = bytes.toString("utf8");
	const path = Buffer.from(text).equals(bytes) ? { path: text } : { path_hex: bytes.toString("hex") };
	return `${JSON.stringify({ ...path, size, sha256 })}\n`;
}
