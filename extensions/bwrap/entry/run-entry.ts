import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command, CommandEnd } from "../../../provider/contract";
import { errnoOf, SandboxerError } from "../../../provider/errors";
import { ProcessTable } from "../../../provider/identity";
import { makePipes, type Pipe, PipeReader, spawnClean, strayDescriptors } from "../../../provider/transport";
import { INSIDE_ENVIRONMENT } from "../holder/command";
import { ENDING_MS, endsWithin } from "../liveness";
import type { Programs } from "../preflight";
import type { BwrapRecord } from "../record";
import { ENTRY_DESCRIPTORS, entryCommand, entryUser, WRONG_SANDBOX } from "./entry-command";

const GATE = readFileSync(join(__dirname, "gate.sh"), "utf8");

/** What was written before its command's end is read after it, as long as some more comes this often. */
const SILENCE_MS = 1000;
/** Added to the number of a signal by whoever tells its end as an exit code, as every shell does. */
const SIGNALLED = 128;
/** Of a command that SIGKILL ended. */
export const KILLED = SIGNALLED + constants.signals.SIGKILL;
/** At most this much: what the pipe and the reader hold (pipe(7): 64 KiB), and no more from whoever was handed its other end. */
const AFTER_END_BYTES = 1024 * 1024;

export interface Entry {
	readonly programs: Programs;
	readonly record: BwrapRecord;
	readonly directory: string;
	readonly command: Command;
	readonly signal: AbortSignal;
	readonly timeoutSeconds: number;
}

/**
 * Runs a command in the sandbox with its whole confinement: joining namespaces alone brings neither the
 * limits, nor the filter, nor the loss of capabilities. The command is a process tree of its own (its
 * own pid namespace inside the sandbox's) that ends with it. Id and generation are read again inside,
 * before the command: a process number that was handed out anew leads nowhere.
 */
export async function runEntry(entry: Entry): Promise<CommandEnd> {
	const { record, signal, timeoutSeconds } = entry;
	assertMayEnter(record);
	if (signal.aborted) throw stopped(record);
	const begun = await start(entry);
	const { child, exited, outputs } = begun;
	let ending: "timeout" | "abort" | undefined;
	const over = new AbortController();
	const end = (why: "timeout" | "abort") => {
		ending ??= why;
		over.abort();
		// First of all: what of it may outlive the signal stands before the gate, and gets no answer.
		begun.gate.destroy();
		if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
			process.kill(-child.pid, "SIGKILL");
		// What was handed to somebody else may stay open for as long as he likes.
		for (const output of outputs) output.destroy();
	};
	const timer = setTimeout(end, timeoutSeconds * 1000, "timeout");
	const onAbort = () => end("abort");
	signal.addEventListener("abort", onAbort, { once: true });
	// Aborted while it was being started: no event tells that any more.
	if (signal.aborted) onAbort();
	const takes = (stream: "stdout" | "stderr") => (piece: Uint8Array) =>
		notBeyond(over.signal, entry.command.output(stream, piece));
	try {
		const refusal = await throughGate(begun);
		if (refusal !== undefined && ending === undefined) throw await notStarted(entry, begun, refusal);
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
		for (const stream of [...outputs, ...child.stdio]) stream?.destroy();
	}
}

function codeOf([exitCode, signal]: readonly [number | null, NodeJS.Signals | null]): number {
	return exitCode ?? SIGNALLED + constants.signals[signal ?? "SIGKILL"];
}

/** Only the user that made a sandbox may enter it, or root, which becomes the sandbox's own user. */
function assertMayEnter(record: BwrapRecord): void {
	const uid = process.getuid?.();
	if (uid !== 0 && uid !== record.maker_uid) {
		throw new SandboxerError({
			code: "conflict",
			message: `Sandbox ${record.sandbox_id} was made by user id ${record.maker_uid}; user id ${uid} may not enter it.`,
			hint: "Run as that user, or as root.",
		});
	}
	if (!isRunning(record)) {
		throw new SandboxerError({
			code: "remains",
			message: `Sandbox ${record.sandbox_id} does not run any more.`,
			hint: "pulumi refresh, then pulumi up, makes it again.",
		});
	}
}

function isRunning({ init }: BwrapRecord): boolean {
	return init !== undefined && new ProcessTable().isAlive(init);
}

interface Begun {
	readonly child: ChildProcess;
	readonly exited: Promise<[number | null, NodeJS.Signals | null]>;
	readonly gate: Duplex;
	/** Standard output and standard error. */
	readonly outputs: readonly PipeReader[];
}

async function start({ programs, record, directory, command }: Entry): Promise<Begun> {
	const files = Object.values(command.secretFiles);
	const first = ENTRY_DESCRIPTORS.firstFile;
	const [stdout, stderr] = (await makePipes(2, INSIDE_ENVIRONMENT.PATH, entryUser(record))) as [Pipe, Pipe];
	// It is read from where it stands: each entry needs its own.
	const filter = openSync(join(directory, "filter"), "r");
	const stray = strayDescriptors(first + files.length);
	const [program = "", ...args] = entryCommand(programs, record, command, GATE, stray);
	const outputs = [stdout, stderr].map(({ reader }) => new PipeReader(reader));
	try {
		const child = spawnClean(program, args, {
			env: { PATH: INSIDE_ENVIRONMENT.PATH },
			stdio: [
				command.stdin === undefined ? "ignore" : "pipe",
				...[stdout.writer, stderr.writer, filter],
				...Array.from({ length: 2 + files.length }, () => "pipe" as const),
			],
			detached: true,
			stray,
		});
		const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
		exited.catch(() => undefined);
		const streams = child.stdio.slice(ENTRY_DESCRIPTORS.arguments) as (Duplex | null)[];
		// Whoever is at their other end may end before he has read all.
		for (const stream of streams) stream?.on("error", () => undefined);
		const [words, gate, ...secrets] = streams;
		words?.end(bwrapArguments(command).join("\0"));
		for (const [index, content] of files.entries()) secrets[index]?.end(content);
		// A command need not read all that there is for it.
		if (command.stdin !== undefined && child.stdin !== null)
			void pipeline(command.stdin, child.stdin).catch(() => undefined);
		return { child, exited, gate: gate as Duplex, outputs };
	} catch (thrown) {
		for (const output of outputs) output.destroy();
		throw unspawned(record, thrown);
	} finally {
		for (const descriptor of [filter, stdout.writer, stderr.writer]) closeSync(descriptor);
	}
}

/** What must not be seen on any command line: environment, files; and where it starts. */
function bwrapArguments({ env, secretFiles, cwd }: Command): string[] {
	const names = Object.keys(secretFiles);
	const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(secretFiles[name] ?? "") + 4096, 4096);
	const files = names.flatMap((name, index) => [
		...["--perms", "0400", "--file", String(ENTRY_DESCRIPTORS.firstFile + index), `/run/secrets/${name}`],
	]);
	return [
		...Object.entries({ ...INSIDE_ENVIRONMENT, ...env }).flatMap(([name, value]) => ["--setenv", name, value]),
		// The sandbox's own /run/secrets is shared by all commands, and for good.
		...(names.length === 0 ? [] : ["--size", String(bytes), "--perms", "0700", "--tmpfs", "/run/secrets", ...files]),
		...(names.length === 0 ? [] : ["--remount-ro", "/run/secrets"]),
		...["--chdir", cwd],
	];
}

/**
 * Lets the command through once it stands behind everything that ends it with this process.
 *
 * @returns Why it was not let through: the gate's word, or "closed" where it never came so far.
 */
async function throughGate({ gate }: Begun): Promise<string | undefined> {
	let said = "";
	for await (const chunk of gate) {
		if (gate.destroyed) break;
		if (said === "") gate.write("go\n");
		said += String(chunk);
		const word = said
			.split("\n")
			.slice(0, -1)
			.find((candidate) => candidate !== "here");
		if (word !== undefined) return word === "started" ? undefined : word;
	}
	return "closed";
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
	{ exited, outputs }: Begun,
	why: string,
): Promise<SandboxerError> {
	const [program = ""] = command.argv;
	const details = { sandbox_id: record.sandbox_id };
	if (why === "missing" || why === "forbidden") {
		const fact = why === "missing" ? "is not there" : "is no program that may be run";
		return new SandboxerError({
			code: "not-started",
			message: `The command ${JSON.stringify(program)} could not be started in sandbox ${record.sandbox_id}: it ${fact}.`,
			hint: `Inside, programs are looked for on PATH (${command.env["PATH"] ?? INSIDE_ENVIRONMENT.PATH}); one of the workspace needs its path, such as ./build.sh.`,
			details: { ...details, reason: why },
		});
	}
	const [, said = ""] = await Promise.all(outputs.map(wholeText));
	const exitCode = codeOf(await exited);
	if (exitCode === WRONG_SANDBOX) {
		return new SandboxerError({
			code: "conflict",
			message: `The process that sandbox ${record.sandbox_id} had is now another sandbox's, or another life of it. Nothing was run.`,
			hint: "pulumi refresh tells what is there.",
			details,
		});
	}
	if (!isRunning(record)) return ended(record);
	const words = said.trim().split("\n").slice(-3).join(" ");
	const isFolder = /Can't chdir to /.test(words);
	return new SandboxerError({
		code: isFolder ? "not-started" : "unknown",
		message: `The command ${JSON.stringify(program)} could not be started in sandbox ${record.sandbox_id}: ${words === "" ? `the way in ended with ${exitCode}` : words}.`,
		hint: isFolder
			? "executionContext.cwd names a folder of the workspace that is there."
			: "Nothing was run. Where the sandbox's memory or processes are used up, make room, then try again.",
		details: { ...details, killed: exitCode === KILLED },
	});
}

async function wholeText(reader: PipeReader): Promise<string> {
	let text = "";
	await reader.read((piece) => {
		text += Buffer.from(piece).toString();
	});
	return text;
}

function stopped({ sandbox_id }: BwrapRecord): SandboxerError {
	return new SandboxerError({
		code: "aborted",
		message: `A command in sandbox ${sandbox_id} was ended, because the caller went away or asked to stop.`,
		details: { sandbox_id },
	});
}

function ended({ sandbox_id }: BwrapRecord): SandboxerError {
	return new SandboxerError({
		code: "gone",
		message: `Sandbox ${sandbox_id} ended, and the command in it.`,
		hint: "Its lease was over, or it was removed; pulumi up makes it again.",
		details: { sandbox_id },
	});
}

function unspawned({ sandbox_id }: BwrapRecord, cause: unknown): SandboxerError {
	const errno = errnoOf(cause) ?? String(cause);
	return new SandboxerError({
		code: errno === "E2BIG" ? "not-started" : "unknown",
		message: `A command in sandbox ${sandbox_id} could not be started (${errno}).`,
		hint:
			errno === "E2BIG"
				? "Its words are too long for one command line: hand them over on stdin or in a file."
				: "Try again.",
		details: { sandbox_id },
		cause,
	});
}
