import { closeSync, constants, fchownSync, openSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxerError } from "../../errors";
import { run } from "./run";
import { closedOnExec } from "./spawn-clean";

/** The two ends of a pipe of the kernel, as descriptors. Both are the taker's to close. */
export interface Pipe {
	/** Does not wait: for this process. */
	readonly reader: number;
	/** For a child. */
	readonly writer: number;
}

/** How many are made at once: making one takes a program. */
const BATCH = 32;

/** Made ahead; nothing of them stands in any folder. */
const spare: Pipe[] = [];
let filling: Promise<void> | undefined;

/**
 * Pipes for a child's output. What Node itself makes is a socket, and that cannot be opened again by its name:
 * `echo … >/dev/stderr` fails on one.
 *
 * @param path - Where mkfifo is looked for.
 * @param uid - Whose they are: who may open them again. Default: this process's user.
 */
export async function makePipes(count: number, path: string, uid: number | undefined): Promise<Pipe[]> {
	while (spare.length < count) await fill(path);
	const pipes = spare.splice(0, count);
	for (const { reader, writer } of pipes) for (const end of [reader, writer]) closedOnExec.delete(end);
	if (uid !== undefined) for (const { writer } of pipes) fchownSync(writer, uid, uid);
	return pipes;
}

function fill(path: string): Promise<void> {
	filling ??= makeSpare(path).finally(() => {
		filling = undefined;
	});
	return filling;
}

async function makeSpare(path: string): Promise<void> {
	const folder = await mkdtemp(join(tmpdir(), "sandboxer-pipes-"));
	try {
		const files = Array.from({ length: BATCH }, (_, index) => join(folder, String(index)));
		const { exitCode, stderr } = await run("mkfifo", ["-m", "600", ...files], {
			env: { PATH: path },
			signal: new AbortController().signal,
			timeoutSeconds: 10,
		});
		if (exitCode !== 0) {
			throw new SandboxerError({
				code: "preflight",
				message: `No pipe could be made in ${folder}: ${stderr.trim()}.`,
				hint: "Set TMPDIR to a folder of a local file system.",
			});
		}
		for (const file of files) {
			const pipe = bothEnds(file);
			spare.push(pipe);
			closedOnExec.add(pipe.reader).add(pipe.writer);
		}
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function bothEnds(file: string): Pipe {
	// A reader that does not wait for a writer must come first.
	const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
	try {
		return { reader, writer: openSync(file, constants.O_WRONLY) };
	} catch (thrown) {
		closeSync(reader);
		throw thrown;
	}
}
