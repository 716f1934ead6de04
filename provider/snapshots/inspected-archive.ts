import type { ChildProcess } from "node:child_process";
import { closeSync } from "node:fs";
import { SandboxerError } from "../errors";
import type { UnnamedFile } from "../transport";
import { endGroup, endOf, findTar, startTar, type TarSettings } from "./tar-program";

/**
 * Nothing of it is trusted, though all of it was looked at: no owner, no other attributes than a user's own,
 * nothing that is there already is written over. Modes are as they were, since none is setuid.
 */
const EXTRACT = [
	...["--extract", "--file=-", "--no-same-owner", "--same-permissions", "--keep-old-files"],
	...["--xattrs", "--xattrs-include=user.*", "--delay-directory-restore"],
];

/** What an archive holds, all of it looked at, where nobody else can change it. */
export class InspectedArchive {
	readonly #snapshotId: string;
	readonly #content: UnnamedFile;

	/** @param content - The archive, decompressed. It is this one's from here on. */
	constructor(snapshotId: string, content: UnnamedFile) {
		this.#snapshotId = snapshotId;
		this.#content = content;
	}

	/**
	 * Unpacks it into an empty directory.
	 *
	 * @throws SandboxerError `preflight` where tar could not write all of it; the directory is then of no use.
	 */
	async unpack(settings: TarSettings, signal: AbortSignal): Promise<void> {
		const tar = await findTar(settings, signal);
		const content = this.#content.open();
		const words = [...EXTRACT, `--directory=${settings.directory}`];
		let child: ChildProcess;
		try {
			child = startTar(tar, words, settings, [content, "ignore", "pipe"]);
		} finally {
			closeSync(content);
		}
		const said: Buffer[] = [];
		child.stderr?.on("data", (chunk: Buffer) => {
			if (said.length < 10) said.push(chunk);
		});
		const stop = () => endGroup(child);
		signal.addEventListener("abort", stop);
		if (signal.aborted) stop();
		const ended = await endOf(child);
		signal.removeEventListener("abort", stop);
		if (signal.aborted) throw stopped(this.#snapshotId, signal);
		if (ended === 0) return;
		const told = Buffer.concat(said).toString().trim().split("\n").slice(0, 3).join("; ");
		throw new SandboxerError({
			code: "preflight",
			message: `Snapshot ${this.#snapshotId} could not be unpacked: tar ended with ${ended}: ${told}.`,
			hint: "See that the disk has room.",
			details: { snapshot_id: this.#snapshotId },
		});
	}

	close(): Promise<void> {
		return this.#content.close();
	}
}

/** That a restore did not come to its end because its caller, or its time, did. */
export function stopped(snapshotId: string, signal: AbortSignal): SandboxerError {
	return new SandboxerError({
		code: "aborted",
		message: `The restore of snapshot ${snapshotId} was stopped.`,
		cause: signal.reason,
	});
}
