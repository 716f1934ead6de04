import { constants } from "node:fs";
import { chmod, chown, type FileHandle, lchown, mkdir, open, symlink, utimes } from "node:fs/promises";
import { errnoText, hasErrno, SandboxerError } from "../errors";
import type { HeldDirectory } from "./held-directory";
import { joinBytes } from "./join-bytes";
import type { Lanes } from "./lanes";
import { pathText } from "./path-text";
import type { PlannedDirectory } from "./planned-tree";
import { stopIfAborted } from "./stop";

/** Read, write and run for owner, group and others: never setuid, setgid or sticky. */
const RWX = 0o777;
const CHUNK_BYTES = 256 * 1024;
/** Room for a file that says too small a size, as those of some file systems do. */
const SLACK_BYTES = 1024;
/** Without O_NONBLOCK a fifo put in a file's place would hold the copy up for ever. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const WRITE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export interface WriteSettings {
	readonly source: string;
	readonly target: string;
	readonly step: string;
	readonly signal: AbortSignal;
	readonly lanes: Lanes;
	readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

/** Copies what was planned. A file that went away since then is left out, as if it had gone before. */
export class TreeWriter {
	files = 0;
	bytes = 0;
	readonly #settings: WriteSettings;

	constructor(settings: WriteSettings) {
		this.#settings = settings;
	}

	async writeEntries(from: HeldDirectory, into: HeldDirectory, plan: PlannedDirectory, path: Buffer): Promise<void> {
		await this.#settings.lanes.spread(plan.entries, async ([name, entry]) => {
			stopIfAborted(this.#settings.signal, this.#settings.step);
			const bytes = Buffer.from(name, "latin1");
			const inner = joinBytes(path, bytes);
			if (entry.kind === "directory") await this.#directory(from, into, bytes, entry, inner);
			else if (entry.kind === "file") await this.#file(from, into, bytes, inner);
			else await this.#writing(inner, () => this.#link(into, bytes, entry.target));
		});
	}

	async #directory(
		from: HeldDirectory,
		into: HeldDirectory,
		name: Buffer,
		plan: PlannedDirectory,
		path: Buffer,
	): Promise<void> {
		const inner = await this.#reading(path, () => from.enter(name));
		if (inner === undefined) return;
		try {
			const { mode, atimeMs, mtimeMs } = await inner.stat();
			const made = await this.#writing(path, async () => {
				await mkdir(into.at(name), 0o700);
				return into.enter(name);
			});
			try {
				await this.writeEntries(inner, made, plan, path);
				await this.#writing(path, async () => {
					const { owner } = this.#settings;
					if (owner !== undefined) await chown(made.path, owner.uid, owner.gid);
					await chmod(made.path, Number(mode) & RWX);
					await utimes(made.path, Number(atimeMs) / 1000, Number(mtimeMs) / 1000);
				});
			} finally {
				await made.close();
			}
		} finally {
			await inner.close();
		}
	}

	async #file(from: HeldDirectory, into: HeldDirectory, name: Buffer, path: Buffer): Promise<void> {
		const source = await this.#reading(path, () => open(from.at(name), READ_FLAGS));
		if (source === undefined) return;
		try {
			const stats = await source.stat();
			if (!stats.isFile()) throw this.#swapped(path);
			const made = await this.#writing(path, () => open(into.at(name), WRITE_FLAGS, 0o600));
			try {
				await this.#contents(source, made, stats.size, path);
				await this.#writing(path, async () => {
					const { owner } = this.#settings;
					if (owner !== undefined) await made.chown(owner.uid, owner.gid);
					await made.chmod(stats.mode & RWX);
					await made.utimes(stats.atimeMs / 1000, stats.mtimeMs / 1000);
				});
			} finally {
				await made.close();
			}
		} finally {
			await source.close();
		}
		this.files += 1;
	}

	async #contents(source: FileHandle, made: FileHandle, size: number, path: Buffer): Promise<void> {
		const chunk = Buffer.allocUnsafe(Math.min(size + SLACK_BYTES, CHUNK_BYTES));
		for (;;) {
			const bytesRead = await this.#reading(
				path,
				async () => (await source.read(chunk, 0, chunk.length, null)).bytesRead,
			);
			if (bytesRead === undefined || bytesRead === 0) return;
			await this.#writing(path, () => made.writeFile(chunk.subarray(0, bytesRead)));
			this.bytes += bytesRead;
			stopIfAborted(this.#settings.signal, this.#settings.step);
		}
	}

	async #link(into: HeldDirectory, name: Buffer, target: Buffer): Promise<void> {
		const { owner } = this.#settings;
		await symlink(target, into.at(name));
		if (owner !== undefined) await lchown(into.at(name), owner.uid, owner.gid);
		this.files += 1;
	}

	/** Undefined where the source is gone by now. */
	async #reading<T>(path: Buffer, call: () => Promise<T>): Promise<T | undefined> {
		try {
			return await call();
		} catch (cause) {
			if (hasErrno(cause, "ENOENT")) return undefined;
			if (hasErrno(cause, "ELOOP", "ENOTDIR")) throw this.#swapped(path, cause);
			const { source } = this.#settings;
			throw new SandboxerError({
				code: "invalid",
				message: `inputs.repo ${JSON.stringify(source)}: ${pathText(path)} cannot be read: ${errnoText(cause)}.`,
				hint: "Make it readable for this user, or have git ignore it.",
				details: { field: "inputs.repo", value: source },
				cause,
			});
		}
	}

	async #writing<T>(path: Buffer, call: () => Promise<T>): Promise<T> {
		try {
			return await call();
		} catch (cause) {
			const { target } = this.#settings;
			throw new SandboxerError({
				code: "preflight",
				message: `${pathText(path)} cannot be written in ${JSON.stringify(target)}: ${errnoText(cause)}.`,
				hint: "See that this user may write there and that the disk has room.",
				details: { directory: target },
				cause,
			});
		}
	}

	#swapped(path: Buffer, cause?: unknown): SandboxerError {
		const { source } = this.#settings;
		return new SandboxerError({
			code: "invalid",
			message: `inputs.repo ${JSON.stringify(source)}: ${pathText(path)} became something else while it was copied.`,
			hint: "See that nothing works in it meanwhile, then run again.",
			details: { field: "inputs.repo", value: source },
			cause,
		});
	}
}
