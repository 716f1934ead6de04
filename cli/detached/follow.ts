import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Detached, detachedOf } from "./folder";

/** Where in the outputs to begin, in bytes. */
export interface Offsets {
	readonly stdout: number;
	readonly stderr: number;
}

/** How often the files are looked at. */
const POLL_MS = 50;

/**
 * Hands over what stands in the files of an execution from an offset on, and what comes, until it has ended.
 *
 * @param take - Takes a piece of output; it is waited for before the next.
 */
export async function follow(
	execId: string,
	from: Offsets,
	take: (stream: "stdout" | "stderr", chunk: Uint8Array) => Promise<void> | void,
	signal: AbortSignal,
): Promise<Detached> {
	const { folder } = await detachedOf(execId);
	const files = { stdout: await open(join(folder, "stdout")), stderr: await open(join(folder, "stderr")) };
	try {
		const at = { ...from };
		for (;;) {
			// First whether it runs: what it wrote before its end is then in the files.
			const seen = await detachedOf(execId);
			for (const stream of ["stdout", "stderr"] as const)
				at[stream] = await copy(files[stream], at[stream], (chunk) => take(stream, chunk), signal);
			if (seen.state !== "running" || signal.aborted) return seen;
			await pause(POLL_MS);
		}
	} finally {
		await Promise.all([files.stdout.close(), files.stderr.close()]);
	}
}

/** Copies from an offset to the present end; the offset after it. */
async function copy(
	file: FileHandle,
	from: number,
	take: (chunk: Uint8Array) => Promise<void> | void,
	signal: AbortSignal,
): Promise<number> {
	for (let at = from; ; ) {
		const { bytesRead, buffer } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, at);
		if (bytesRead === 0 || signal.aborted) return at;
		await take(buffer.subarray(0, bytesRead));
		at += bytesRead;
	}
}
