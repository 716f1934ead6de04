import type { HeldDirectory } from "./held-directory";

/** The mount and the file system of a directory: what a removal stays in. */
export class MountBounds {
	readonly #dev: bigint;
	readonly #mountId: string | undefined;

	private constructor(dev: bigint, mountId: string | undefined) {
		this.#dev = dev;
		this.#mountId = mountId;
	}

	static async of(directory: HeldDirectory): Promise<MountBounds> {
		return new MountBounds((await directory.stat()).dev, directory.mountId());
	}

	/** Whether a directory is reached through the same mount, and lies on the same file system. */
	async hold(directory: HeldDirectory): Promise<boolean> {
		return (await directory.stat()).dev === this.#dev && directory.mountId() === this.#mountId;
	}
}
