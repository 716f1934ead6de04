import { readdir, rename, rmdir } from "node:fs/promises";
import { basename, dirname, posix } from "node:path";
import { errnoText, hasErrno } from "../errors";
import type { HeldDirectory } from "./held-directory";
import type { MountBounds } from "./mount-bounds";
import { stillThere } from "./still-there";
import { TreeSweep } from "./tree-sweep";

const MOUNTED = "another file system is mounted there";

export interface RemoveTreeReport {
	/** Whether this call removed a directory; false where there was none. */
	readonly removed: boolean;
	/** Paths that are still there; empty is the proof that the directory is gone. At most 50 are named. */
	readonly remains: readonly string[];
	/** Why the first of `remains` is still there, as a sentence. */
	readonly reason?: string;
}

/** One removal, below a parent that is held. */
export class Removal {
	readonly #parent: HeldDirectory;
	readonly #bounds: MountBounds;
	readonly #directory: string;
	readonly #last: readonly string[];
	readonly #signal: AbortSignal;
	/** What the directory is called between its last steps: no sandbox id starts with a dot. */
	readonly #leaving: string;

	constructor(
		parent: HeldDirectory,
		bounds: MountBounds,
		directory: string,
		last: readonly string[],
		signal: AbortSignal,
	) {
		this.#parent = parent;
		this.#bounds = bounds;
		this.#directory = directory;
		this.#last = last;
		this.#signal = signal;
		this.#leaving = posix.join(dirname(directory), `.${basename(directory)}.removing`);
	}

	/** Empties the directory but for the last names, then takes it away. */
	async remove(held: HeldDirectory): Promise<RemoveTreeReport> {
		if (!(await this.#bounds.hold(held))) return remaining(this.#directory, MOUNTED);
		const sweep = this.#sweep(held, this.#directory);
		if (!(await sweep.emptyTop(this.#last))) return reportOf(sweep);
		try {
			await rename(this.#at(this.#directory), this.#at(this.#leaving));
		} catch (thrown) {
			if (hasErrno(thrown, "ENOENT")) throw thrown;
			return remaining(this.#directory, errnoText(thrown));
		}
		return (await this.finish()) ?? { removed: true, remains: [] };
	}

	/**
	 * The last step, under the other name: the last names go, then the directory. Under its own name a crash
	 * in between would leave an empty directory that nobody knows as ours. Undefined when there is none.
	 */
	async finish(): Promise<RemoveTreeReport | undefined> {
		const held = await enterIfThere(this.#parent, this.#leaving);
		if (held === undefined) return undefined;
		try {
			if (!(await this.#bounds.hold(held))) return remaining(this.#leaving, MOUNTED);
			const names = await readdir(`${held.path}/.`);
			if (names.some((name) => !this.#last.includes(name)))
				return remaining(this.#leaving, "it holds more than a removal leaves behind");
			const sweep = this.#sweep(held, this.#leaving);
			for (const name of this.#last) {
				if (!(await sweep.removeFromTop(name))) return reportOf(sweep);
			}
			await rmdir(this.#at(this.#leaving));
			return { removed: true, remains: [] };
		} finally {
			await held.close();
		}
	}

	#sweep(held: HeldDirectory, path: string): TreeSweep {
		return new TreeSweep(held, Buffer.from(path), this.#bounds, this.#signal);
	}

	#at(path: string): Buffer {
		return this.#parent.at(Buffer.from(basename(path)));
	}
}

function remaining(path: string, why: string): RemoveTreeReport {
	return { removed: false, remains: [path], reason: stillThere(path, why) };
}

function reportOf({ remains, reason }: TreeSweep): RemoveTreeReport {
	return { removed: false, remains, ...(reason === undefined ? {} : { reason }) };
}

async function enterIfThere(parent: HeldDirectory, path: string): Promise<HeldDirectory | undefined> {
	try {
		return await parent.enter(Buffer.from(basename(path)));
	} catch (thrown) {
		if (hasErrno(thrown, "ENOENT", "ENOTDIR")) return undefined;
		throw thrown;
	}
}
