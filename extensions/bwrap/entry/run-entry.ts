import { constants } from "node:os";
import type { Command, CommandEnd } from "../../../provider/contract";
import type { SandboxerError } from "../../../provider/errors";
import { type ProcessIdentity, ProcessTable } from "../../../provider/identity";
import type { PipeReader } from "../../../provider/transport";
import { ENDING_MS, endsWithin } from "../liveness";
import type { BwrapRecord } from "../record";
import { WRONG_SANDBOX } from "./entry-command";
import { type EntryOptions, EntryProcess } from "./entry-process";
import { ended, notEntered, notRunning, notTheirs, refused, stopped } from "./failures";

/** What was written before its command's end is read after it, as long as some more comes this often. */
const SILENCE_MS = 1000;
/** Added to the number of a signal by whoever tells its end as an exit code, as every shell does. */
const SIGNALLED = 128;
/** Of a command that SIGKILL ended. */
export const KILLED = SIGNALLED + constants.signals.SIGKILL;
/** At most this much: what the pipe and the reader hold (pipe(7): 64 KiB), and no more from whoever was handed its other end. */
const AFTER_END_BYTES = 1024 * 1024;

export interface Entry extends EntryOptions {
	readonly command: Command;
	readonly signal: AbortSignal;
	readonly timeoutSeconds: number;
	/** One that was started ahead, with the same options; ours to end from here on. */
	readonly started?: EntryProcess | undefined;
}

/**
 * Runs a command in the sandbox with its whole confinement: joining namespaces alone brings neither the
 * limits, nor the filter, nor the loss of capabilities. The command is a process tree of its own (its
 * own pid namespace inside the sandbox's) that ends with it. Id and generation are read again inside,
 * before the command: a process number that was handed out anew leads nowhere.
 */
export async function runEntry(entry: Entry): Promise<CommandEnd> {
	const { record, signal, timeoutSeconds } = entry;
	try {
		assertMayEnter(record);
		if (signal.aborted) throw stopped(record);
	} catch (thrown) {
		await entry.started?.discard();
		throw thrown;
	}
	const way = entry.started ?? (await EntryProcess.start(entry));
	const { exited, outputs } = way;
	let ending: "timeout" | "abort" | undefined;
	const over = new AbortController();
	const end = (why: "timeout" | "abort") => {
		ending ??= why;
		over.abort();
		way.end();
	};
	const timer = setTimeout(end, timeoutSeconds * 1000, "timeout");
	const onAbort = () => end("abort");
	signal.addEventListener("abort", onAbort, { once: true });
	// Aborted while it was being started: no event tells that any more.
	if (signal.aborted) onAbort();
	const takes = (stream: "stdout" | "stderr") => (piece: Uint8Array) =>
		notBeyond(over.signal, entry.command.output(stream, piece));
	try {
		way.follow((record.init as ProcessIdentity).pid);
		const refusal = await way.throughGate();
		if (refusal !== undefined && ending === undefined) throw await notStarted(entry, way, refusal);
		const [stdout, stderr] = outputs as [PipeReader, PipeReader];
		const [exitCode] = await Promise.all([
			exited.then(codeOf),
			pump(stdout, exited, takes("stdout")),
			pump(stderr, exited, takes("stderr")),
		]);
		if (ending === "abort") throw stopped(record);
		if (ending === "timeout") return { exitCode: null, timedOut: true };
		if (exitCode === KILLED && (await endsWithin(ENDING_MS, new ProcessTable(), record))) throw ended(record);
		return { exitCode, timedOut: false };
	} catch (thrown) {
		// Once it is being ended, whatever fails does so for that: a pipe that was reset, say.
		if (ending === "abort") throw stopped(record);
		if (ending === "timeout") return { exitCode: null, timedOut: true };
		end("abort");
		throw thrown;
	} finally {
		clearTimeout(timer);
		signal.removeEventListener("abort", onAbort);
		way.close();
	}
}

function codeOf([exitCode, signal]: readonly [number | null, NodeJS.Signals | null]): number {
	return exitCode ?? SIGNALLED + constants.signals[signal ?? "SIGKILL"];
}

/** Only the user that made a sandbox may enter it, or root, which becomes the sandbox's own user. */
function assertMayEnter(record: BwrapRecord): void {
	const uid = process.getuid?.();
	if (uid !== 0 && uid !== record.maker_uid) throw notTheirs(record, uid);
	if (!isRunning(record)) throw notRunning(record);
}

function isRunning({ init }: BwrapRecord): boolean {
	return init !== undefined && new ProcessTable().isAlive(init);
}

/** Waits for whoever takes an output, but not beyond the end of the command. */
function notBeyond(over: AbortSignal, taken: Promise<void> | void): Promise<void> | void {
	if (taken === undefined) return;
	return new Promise((resolve, reject) => {
		const stop = () => resolve();
		over.addEventListener("abort", stop, { once: true });
		if (over.aborted) stop();
		taken.then(resolve, reject).finally(() => over.removeEventListener("abort", stop));
	});
}

/** Hands an output on piece by piece, until it ends; once the command has ended, not for ever. */
async function pump(
	reader: PipeReader,
	exited: Promise<unknown>,
	take: (piece: Uint8Array) => Promise<void> | void,
): Promise<void> {
	let hasExited = false;
	let after = 0;
	let timer: NodeJS.Timeout | undefined;
	const waitForMore = () => {
		clearTimeout(timer);
		if (hasExited) timer = setTimeout(() => reader.destroy(), SILENCE_MS);
	};
	void exited.then(() => {
		hasExited = true;
		waitForMore();
	});
	await reader.read((piece) => {
		clearTimeout(timer);
		if (hasExited) after += piece.length;
		const taken = take(piece);
		if (after > AFTER_END_BYTES) reader.destroy();
		if (taken === undefined) waitForMore();
		return taken?.then(waitForMore);
	});
	clearTimeout(timer);
}

async function notStarted(
	{ record, command }: Entry,
	{ exited, outputs }: EntryProcess,
	why: string,
): Promise<SandboxerError> {
	if (why === "missing" || why === "forbidden") return refused(record, command, why);
	const [, said = ""] = await Promise.all(outputs.map(wholeText));
	const exitCode = codeOf(await exited);
	if (exitCode !== WRONG_SANDBOX && !isRunning(record)) return ended(record);
	return notEntered(record, command, { exitCode, killed: exitCode === KILLED, said });
}

async function wholeText(reader: PipeReader): Promise<string> {
	let text = "";
	await reader.read((piece) => {
		text += Buffer.from(piece).toString();
	});
	return text;
}
