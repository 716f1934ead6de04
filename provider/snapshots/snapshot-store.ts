import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { sandboxIdSchema } from "../documents/words";
import { errnoText, hasCode, hasErrno, SandboxerError } from "../errors";
import { syncFolder, withLock, writeDurably } from "../records";
import { type CaptureOptions, capture } from "./capture";
import { type InspectOptions, inspectArchive } from "./inspect-archive";
import type { InspectedArchive } from "./inspected-archive";
import { FILES, type Manifest, readManifest } from "./manifest";

/** Beginnings of names that no snapshot has: one being taken, one being removed, a lock. */
const HIDDEN = { taking: ".new-", removing: ".gone-", lock: ".lock-" } as const;

/** What stands in a manifest beside what its capture tells. */
export type SnapshotFacts = Pick<
	Manifest,
	| "extension"
	| "snapshot_id"
	| "sandbox_id"
	| "generation"
	| "profile"
	| "owner"
	| "created_at"
	| "expires_at"
	| "labels"
>;

export interface TakeOptions extends Omit<CaptureOptions, "folder"> {
	/** How long to wait for another snapshot of the same id, in seconds. */
	readonly timeoutSeconds: number;
	/**
	 * Has it written, then lets it exist, under whatever keeps the tree what it is said to be. Where it throws
	 * there is none.
	 */
	readonly around: (write: () => Promise<void>, exist: () => Promise<void>) => Promise<void>;
}

/**
 * A folder of snapshots, one folder each. A snapshot exists from the moment its folder has its name, and then
 * it is whole; whatever else is there begins with a dot and is removed by whoever comes next.
 */
export class SnapshotStore {
	/**
	 * @param directory - Absolute; made when first needed, mode 0700.
	 * @param path - The PATH to find programs on.
	 */
	constructor(
		readonly directory: string,
		private readonly path: string,
		private readonly now: () => number,
	) {}

	/**
	 * Takes a snapshot. Removes first what is overdue, and what killed runs left.
	 *
	 * @throws SandboxerError `invalid` for an id, `conflict` where there is one of that id (with its manifest as
	 * `details.existing`), and what `capture` throws. Nothing is left of a snapshot that was not taken.
	 */
	async take(facts: SnapshotFacts, options: TakeOptions): Promise<Manifest> {
		const final = this.folder(facts.snapshot_id);
		await this.#make();
		await this.#sweep(options.signal);
		return this.#locked(facts.snapshot_id, options, async () => {
			const existing = await readManifest(final);
			if (existing !== undefined) throw taken(facts.snapshot_id, existing);
			const folder = join(this.directory, `${HIDDEN.taking}${facts.snapshot_id}`);
			await rm(folder, { recursive: true, force: true });
			await mkdir(folder, { mode: 0o700 });
			try {
				let manifest: Manifest | undefined;
				const write = async () => {
					const captured = await capture({ ...options, folder });
					manifest = { manifest_version: 1, kind: "workspace", ...facts, ...captured };
					await writeDurably(join(folder, FILES.manifest), `${JSON.stringify(manifest)}\n`);
				};
				const exist = async () => {
					await rename(folder, final);
					await syncFolder(this.directory);
				};
				await options.around(write, exist);
				return manifest as unknown as Manifest;
			} catch (thrown) {
				throw this.#asError(thrown, options.what);
			} finally {
				await rm(folder, { recursive: true, force: true });
			}
		});
	}

	/** All there are, oldest first. */
	async list(): Promise<Manifest[]> {
		const found: Manifest[] = [];
		for (const name of await this.#names()) {
			if (name.startsWith(".")) continue;
			const manifest = await readManifest(join(this.directory, name));
			if (manifest !== undefined && manifest.snapshot_id === name) found.push(manifest);
		}
		return found.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
	}

	/** The one of an id; undefined where there is none. */
	async find(snapshotId: string): Promise<Manifest | undefined> {
		return readManifest(this.folder(snapshotId));
	}

	/** Removes one at once; false where there was none. */
	async remove(snapshotId: string): Promise<boolean> {
		const away = join(this.directory, `${HIDDEN.removing}${snapshotId}-${randomUUID()}`);
		try {
			await rename(this.folder(snapshotId), away);
		} catch (thrown) {
			if (hasErrno(thrown, "ENOENT", "ENOTDIR")) return false;
			throw thrown;
		}
		await rm(away, { recursive: true, force: true });
		return true;
	}

	/** Looks at all of one, as `inspectArchive` does: whoever removes it meanwhile or later does no harm. */
	inspect(manifest: Manifest, options: InspectOptions): Promise<InspectedArchive> {
		return inspectArchive(this.folder(manifest.snapshot_id), manifest, options);
	}

	/** The archive's path, for people. */
	archive(snapshotId: string): string {
		return join(this.folder(snapshotId), FILES.archive);
	}

	/** @throws SandboxerError `invalid` for an id that could name anything else. */
	folder(snapshotId: string): string {
		const id = sandboxIdSchema.safeParse(snapshotId);
		if (id.success) return join(this.directory, id.data);
		throw new SandboxerError({
			code: "invalid",
			message: `snapshotId ${JSON.stringify(snapshotId)} is refused: a snapshot id ${id.error.issues[0]?.message ?? "is something else"}.`,
			hint: "Give another one, or leave it out.",
			details: { field: "snapshotId", value: snapshotId },
		});
	}

	async #make(): Promise<void> {
		try {
			await mkdir(this.directory, { recursive: true, mode: 0o700 });
			await chmod(this.directory, 0o700);
		} catch (cause) {
			throw new SandboxerError({
				code: "preflight",
				message: `The folder for snapshots ${this.directory} could not be made: ${errnoText(cause)}.`,
				hint: "Choose another one that this user may write to.",
				cause,
			});
		}
	}

	async #names(): Promise<string[]> {
		try {
			return await readdir(this.directory);
		} catch (thrown) {
			if (hasErrno(thrown, "ENOENT")) return [];
			throw thrown;
		}
	}

	/** Removes what is overdue, and what was left by runs that are dead: whoever is alive holds its lock. */
	async #sweep(signal: AbortSignal): Promise<void> {
		for (const name of await this.#names()) {
			const path = join(this.directory, name);
			if (name.startsWith(HIDDEN.removing)) await rm(path, { recursive: true, force: true });
			else if (name.startsWith(HIDDEN.taking)) await this.#sweepTaking(name.slice(HIDDEN.taking.length), path, signal);
			else if (!name.startsWith(".") && (await this.#isOverdue(path))) await this.remove(name);
		}
	}

	async #isOverdue(folder: string): Promise<boolean> {
		try {
			const expiry = (await readManifest(folder))?.expires_at;
			return expiry !== undefined && Date.parse(expiry) <= this.now();
		} catch (thrown) {
			// A damaged one is nobody's to remove, and no reason not to take another.
			if (hasCode(thrown, "unknown")) return false;
			throw thrown;
		}
	}

	async #sweepTaking(snapshotId: string, path: string, signal: AbortSignal): Promise<void> {
		try {
			await this.#locked(snapshotId, { signal, timeoutSeconds: 0 }, () => rm(path, { recursive: true, force: true }));
		} catch (thrown) {
			if (!hasCode(thrown, "timeout")) throw thrown;
		}
	}

	#locked<T>(
		snapshotId: string,
		{ signal, timeoutSeconds }: { readonly signal: AbortSignal; readonly timeoutSeconds: number },
		work: () => Promise<T>,
	): Promise<T> {
		const file = join(this.directory, `${HIDDEN.lock}${snapshotId}`);
		const what = `Snapshot ${snapshotId}`;
		return withLock(file, { what, signal, timeoutSeconds: Math.ceil(timeoutSeconds), path: this.path }, work);
	}

	#asError(thrown: unknown, what: string): SandboxerError {
		if (!hasErrno(thrown, "ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES")) return SandboxerError.from(thrown);
		return new SandboxerError({
			code: "preflight",
			message: `The snapshot of ${what} could not be written to ${this.directory}: ${errnoText(thrown)}. Nothing was kept.`,
			hint: "See that this user may write there and that the disk has room.",
			details: { directory: this.directory },
			cause: thrown,
		});
	}
}

function taken(snapshotId: string, existing: Manifest): SandboxerError {
	return new SandboxerError({
		code: "conflict",
		message: `Snapshot ${snapshotId} exists already: it was taken of sandbox ${existing.sandbox_id} at ${existing.created_at}.`,
		hint: "It was not touched. Give another snapshotId, or remove it.",
		details: { snapshot_id: snapshotId, existing },
	});
}
