import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, fchownSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errnoOf, SandboxerError } from "../../errors";
import { closedOnExec, spawnClean } from "./spawn-clean";

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

/** How long the names may take: it is milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * A shell makes the names, says so, and removes them once its standard input has ended: they do not stay where this
 * process is killed in between.
 */
const NAMES = `
trap '' PIPE
folder=$1; shift
mkdir -m 700 "$folder" || exit
if (cd "$folder" && mkfifo -m 600 "$@"); then echo made; read -r over; fi
rm -r "$folder"
`;

async function makeSpare(path: string): Promise<void> {
	const folder = join(tmpdir(), `sandboxer-pipes-${randomUUID()}`);
	const names = Array.from({ length: BATCH }, (_, index) => String(index));
	const child = spawnClean("sh", ["-c", NAMES, "pipes", folder, ...names], {
		env: { PATH: path },
		stdio: ["pipe", "pipe", "pipe"],
		// A Ctrl-C is for this process.
		detached: true,
	}) as ChildProcessWithoutNullStreams;
	child.stdin.on("error", () => undefined);
	let stderr = "";
	child.stderr.on("data", (chunk) => {
		stderr += String(chunk);
	});
	try {
		const limit = { signal: AbortSignal.timeout(TIMEOUT_MS) };
		const events = [once(child.stdout, "data", limit), once(child, "close", limit)];
		for (const event of events) event.catch(() => undefined);
		const [said] = await Promise.race(events).catch((thrown: unknown) => [errnoOf(thrown) ?? String(thrown)]);
		if (String(said) !== "made\n") {
			throw new SandboxerError({
				code: "preflight",
				message: `No pipe could be made in ${folder}: ${stderr.trim() || String(said)}.`,
				hint: "Set TMPDIR to a folder of a local file system.",
			});
		}
		for (const name of names) {
			const pipe = bothEnds(join(folder, name));
			spare.push(pipe);
			closedOnExec.add(pipe.reader).add(pipe.writer);
		}
	} finally {
		for (const stream of child.stdio) stream?.destroy();
		child.unref();
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
