import { type BigIntStats, constants, readFileSync } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { hasErrno, SandboxerError } from "../errors";

/** `O_PATH` of `fcntl.h` (x64, arm64), which node:fs does not name: a directory is held without a right to read it. */
const O_PATH = 0o10000000;

/**
 * A directory held by its descriptor. Names are looked up in it through `/proc/self/fd`, as openat(2)
 * would: whatever becomes of the path that led here, a name below it is a name in this very directory.
 *
 * @example
 * ```ts
 * const top = await HeldDirectory.open("/srv/sbx", { followLinks: true });
 * try {
 *   await unlink(top.at(Buffer.from("old")));
 * } finally {
 *   await top.close();
 * }
 * ```
 */
export class HeldDirectory {
	/** The directory's path for as long as it is held. */
	readonly path: string;
	readonly #handle: FileHandle;
	readonly #prefix: Buffer;

	private constructor(handle: FileHandle) {
		this.#handle = handle;
		this.path = `/proc/self/fd/${handle.fd}`;
		this.#prefix = Buffer.from(`${this.path}/`);
	}

	/**
	 * Holds the directory at a path.
	 * @throws the system call's own error (`ENOENT`, `ENOTDIR` also for a link that is not to be followed);
	 * {@link SandboxerError} `preflight` where there is no `/proc`.
	 */
	static async open(path: string | Buffer, { followLinks }: { readonly followLinks: boolean }): Promise<HeldDirectory> {
		const handle = await open(path, O_PATH | constants.O_DIRECTORY | (followLinks ? 0 : constants.O_NOFOLLOW));
		const held = new HeldDirectory(handle);
		try {
			await lstat(`${held.path}/.`);
		} catch (cause) {
			await handle.close();
			if (!hasErrno(cause, "ENOENT")) throw cause;
			throw new SandboxerError({
				code: "preflight",
				message: "/proc/self/fd cannot be used on this machine, and a sandbox's directory is only walked through it.",
				hint: "Mount it: mount -t proc proc /proc. Local sandboxes need Linux.",
				cause,
			});
		}
		return held;
	}

	/** The path of a name in this directory, for any call of node:fs that does not follow links. */
	at(name: Buffer): Buffer {
		return Buffer.concat([this.#prefix, name]);
	}

	/** Holds a directory in this one. A link is not followed: it is `ENOTDIR`. */
	async enter(name: Buffer): Promise<HeldDirectory> {
		return new HeldDirectory(await open(this.at(name), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW));
	}

	async stat(): Promise<BigIntStats> {
		return this.#handle.stat({ bigint: true });
	}

	/** Which mount it is reached through: tells a bind mount too, which `st_dev` does not. Undefined where the kernel does not say. */
	mountId(): string | undefined {
		// The kernel answers from memory: nothing to wait for.
		return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${this.#handle.fd}`, "utf8"))?.[1];
	}

	async close(): Promise<void> {
		await this.#handle.close();
	}
}
