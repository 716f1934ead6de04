import { chmod, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { errnoText, hasErrno, isSystemError } from "../errors";
import type { HeldDirectory } from "./held-directory";
import { joinBytes } from "./join-bytes";
import { Lanes } from "./lanes";
import type { MountBounds } from "./mount-bounds";
import { plainPathText } from "./path-text";
import { stillThere } from "./still-there";
import { stopIfAborted } from "./stop";

/** A directory nested deeper is moved to the top first, so that neither descriptors nor the stack run out. */
const MAX_DEPTH = 64;
/** Names read at once: what a directory costs in memory, however many files are in it. */
const BATCH = 256;
const PARALLEL = 16;
/** Looks at a directory that will not become empty, because somebody still writes into it. */
const ATTEMPTS = 3;
/** Paths reported; a hundred thousand of them help nobody. */
const MAX_REMAINS = 50;
/** Read, write and search for the owner: what it takes to remove what is in a directory. */
const OWNER_RWX = 0o700;

/** Where in the tree a sweep is. */
interface Place {
	readonly held: HeldDirectory;
	readonly path: Buffer;
	readonly depth: number;
}

/** Empties a directory: follows no link, enters no other mount, and goes on past what it cannot remove. */
export class TreeSweep {
	readonly #remains = new Set<string>();
	readonly #top: Place;
	readonly #bounds: MountBounds;
	readonly #signal: AbortSignal;
	readonly #step: string;
	#moved = 0;

	/** Why the first of `remains` is still there. */
	reason: string | undefined;

	/** @param path - the directory's own, for reports. */
	constructor(held: HeldDirectory, path: Buffer, bounds: MountBounds, signal: AbortSignal) {
		this.#top = { held, path, depth: 0 };
		this.#bounds = bounds;
		this.#signal = signal;
		this.#step = `the removal of ${JSON.stringify(plainPathText(path))}`;
	}

	get remains(): readonly string[] {
		return [...this.#remains];
	}

	/** Removes all but the names to keep; true when nothing else is left. */
	async emptyTop(keep: readonly string[]): Promise<boolean> {
		await this.#openUp(this.#top.held);
		for (let attempt = 0; attempt < ATTEMPTS; ) {
			const moved = this.#moved;
			this.#remains.clear();
			this.reason = undefined;
			const { seen, isClear } = await this.#pass(this.#top, new Set(keep));
			if (seen === 0) return true;
			if (this.#moved === moved) {
				if (!isClear) return false;
				attempt += 1;
			}
		}
		this.#remain(this.#top.path, "something still writes into it");
		return false;
	}

	/** Removes one name in the top directory, whatever it is. */
	async removeFromTop(name: string): Promise<boolean> {
		return this.#removeAny(this.#top, Buffer.from(name));
	}

	/** Goes through a directory once. */
	async #pass(place: Place, keep: ReadonlySet<string>): Promise<{ readonly seen: number; readonly isClear: boolean }> {
		let seen = 0;
		let isClear = true;
		let files: Buffer[] = [];
		const flush = async () => {
			stopIfAborted(this.#signal, this.#step);
			const batch = files;
			files = [];
			await new Lanes(PARALLEL).spread(batch, async (name) => {
				if (!(await this.#removeAny(place, name))) isClear = false;
			});
		};
		for await (const entry of await opendir(`${place.held.path}/.`, {
			encoding: "buffer" as BufferEncoding,
			bufferSize: BATCH,
		})) {
			// Typed as a string whatever the encoding.
			const name = entry.name as unknown as Buffer;
			if (keep.has(name.toString("utf8"))) continue;
			seen += 1;
			if (!entry.isDirectory()) {
				if (files.push(name) >= BATCH) await flush();
			} else {
				stopIfAborted(this.#signal, this.#step);
				if (!(await this.#removeDirectory(place, name))) isClear = false;
			}
		}
		await flush();
		return { seen, isClear };
	}

	async #removeAny(place: Place, name: Buffer): Promise<boolean> {
		try {
			await unlink(place.held.at(name));
			return true;
		} catch (thrown) {
			if (hasErrno(thrown, "ENOENT")) return true;
			if (hasErrno(thrown, "EISDIR")) return this.#removeDirectory(place, name);
			return this.#remain(joinBytes(place.path, name), errnoText(thrown));
		}
	}

	async #removeDirectory(place: Place, name: Buffer): Promise<boolean> {
		const path = joinBytes(place.path, name);
		try {
			const held = await place.held.enter(name);
			try {
				if (!(await this.#bounds.hold(held))) return this.#remain(path, "another file system is mounted there");
				await this.#openUp(held);
				if (place.depth >= MAX_DEPTH) return await this.#moveToTop(place, name);
				return await this.#removeHeld(place, name, { held, path, depth: place.depth + 1 });
			} finally {
				await held.close();
			}
		} catch (thrown) {
			if (hasErrno(thrown, "ENOENT")) return true;
			if (hasErrno(thrown, "ENOTDIR")) return this.#removeAny(place, name);
			if (isSystemError(thrown)) return this.#remain(path, errnoText(thrown));
			throw thrown;
		}
	}

	async #removeHeld(parent: Place, name: Buffer, place: Place): Promise<boolean> {
		for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
			if (!(await this.#pass(place, new Set())).isClear) return false;
			try {
				await rmdir(parent.held.at(name));
				return true;
			} catch (thrown) {
				if (!hasErrno(thrown, "ENOTEMPTY", "EEXIST")) throw thrown;
			}
		}
		return this.#remain(place.path, "something still writes into it");
	}

	/** A payload can shut its directories, mode 000, even from their owner. */
	async #openUp(held: HeldDirectory): Promise<void> {
		const mode = Number((await held.stat()).mode);
		if ((mode & OWNER_RWX) === OWNER_RWX) return;
		try {
			await chmod(held.path, (mode & 0o7777) | OWNER_RWX);
		} catch (thrown) {
			// Another user's: what follows says whether it can be removed all the same.
			if (!hasErrno(thrown, "EPERM", "EROFS")) throw thrown;
		}
	}

	async #moveToTop(place: Place, name: Buffer): Promise<boolean> {
		for (;;) {
			this.#moved += 1;
			try {
				await rename(place.held.at(name), this.#top.held.at(Buffer.from(`.deep-${this.#moved}`)));
				return true;
			} catch (thrown) {
				if (!hasErrno(thrown, "ENOTEMPTY", "EEXIST", "ENOTDIR")) throw thrown;
			}
		}
	}

	#remain(path: Buffer, reason: string): false {
		const text = plainPathText(path);
		this.reason ??= stillThere(text, reason);
		if (this.#remains.size < MAX_REMAINS) this.#remains.add(text);
		return false;
	}
}
