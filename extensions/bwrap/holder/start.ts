import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import { checkpoint } from "../../../provider/contract";
import { parseJson } from "../../../provider/documents/parse-json";
import { SandboxerError } from "../../../provider/errors";
import { type ProcessIdentity, ProcessTable } from "../../../provider/identity";
import type { LockAttempt } from "../../../provider/records";
import { shellWord, spawnClean, strayDescriptors } from "../../../provider/transport";
import { joinText } from "../limits/cgroup";
import { type Programs, startFailure } from "../preflight";
import type { BwrapRecord } from "../record";
import { openFilter } from "../seccomp/filter-file";
import { HOLDER_DESCRIPTORS, holderCommand, sandboxFolders } from "./command";
import { readSupervisor } from "./supervisor";
import { type SystemFile, systemFiles } from "./system-files";

const LAUNCH = join(__dirname, "launch.sh");
const SUPERVISE = join(__dirname, "supervise.sh");

/** What the launched shell says once it has the lock, and the first process of the sandbox once it is there. */
const LOCKED = "locked\n";
const READY = "ready\n";

/** Ends a file in a script: no line of a system file. */
const END = "END";

export interface Held {
	readonly supervisor: ProcessIdentity;
	/** pid 1 of the sandbox, as this machine counts. */
	readonly init: ProcessIdentity;
}

export interface StartOptions {
	readonly record: BwrapRecord;
	/** The file of the clock that leases are counted by. */
	readonly clock: string;
	readonly signal: AbortSignal;
	readonly timeoutSeconds: number;
}

/**
 * A supervisor, in a session of its own so that it outlives this process. It is started before there is anything to
 * hold, to take the lock of the sandbox: one spawn for both. Until its start it does nothing, and ends with this process;
 * a start that fails ends it, however far it has come.
 */
export class Supervisor {
	readonly #child: ChildProcess;
	readonly #stray: readonly number[];
	/** Whether it holds the sandbox that was asked for: from then on its lease decides about its end. */
	#holds = false;

	/**
	 * @param lock - The descriptor of the lock of the sandbox: the supervisor holds it too until it has written who it is.
	 * @param waitSeconds - How long to wait for the lock.
	 */
	constructor(
		private readonly programs: Programs,
		private readonly directory: string,
		lock: number,
		private readonly waitSeconds: number,
	) {
		this.#stray = strayDescriptors(3);
		// The folder only tells whose it is.
		const words = ["supervise", programs.flock, String(waitSeconds), directory];
		const filter = openFilter();
		try {
			this.#child = spawnClean(programs.sh, ["-s", ...words], {
				env: { PATH: dirname(programs.sleep) },
				// Descriptor 3 is opened by the start script.
				stdio: ["pipe", "ignore", "pipe", "ignore", "pipe", lock, filter],
				detached: true,
				stray: this.#stray,
			});
		} finally {
			closeSync(filter);
		}
		// Whatever becomes of it is seen on the other pipe.
		this.#stdin.on("error", () => undefined);
		this.#stdin.write(readFileSync(LAUNCH, "utf8"));
	}

	/** Waits until it has the lock, or has ended without. */
	async locked(signal: AbortSignal): Promise<LockAttempt> {
		// flock(1) knows its limit itself.
		const atMost = AbortSignal.timeout((this.waitSeconds + 5) * 1000);
		const said = await saidUpTo(LOCKED, this.#ready, this.#child, AbortSignal.any([signal, atMost]));
		if (said === LOCKED) return { exitCode: 0, stderr: "" };
		if (signal.aborted) throw new SandboxerError({ code: "aborted", message: "The wait for the lock was stopped." });
		if (atMost.aborted) return { exitCode: null, stderr: "it did not answer" };
		const stderr = text(this.#child.stderr as Readable);
		if (!this.#hasEnded) await once(this.#child, "exit");
		return { exitCode: this.#child.exitCode, stderr: await stderr };
	}

	/** Lets it start the sandbox, and waits until the sandbox's first process says that it is there. */
	async start({ record, clock, signal, timeoutSeconds }: StartOptions): Promise<Held> {
		const { directory } = this;
		const folders = sandboxFolders(directory);
		writeFileSync(folders.log, "", { mode: 0o600 });
		const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]);
		const word = saidUpTo(READY, this.#ready, this.#child, within);
		word.catch(() => undefined);
		this.#stdin.write(this.#script(record, clock));
		try {
			await checkpoint("provision:spawned");
			const said = await word;
			if (signal.aborted)
				throw new SandboxerError({
					code: "aborted",
					message: `The start of sandbox ${record.sandbox_id} was stopped.`,
				});
			if (!said.endsWith(READY)) throw await notStarted(record, folders.log, !this.#hasEnded, timeoutSeconds);
			await checkpoint("provision:started");
			const held = await identify(directory, record, said);
			this.#holds = true;
			return held;
		} finally {
			await this.dismiss();
		}
	}

	/** Lets go of it. One that holds no sandbox is ended, with all that it began. */
	async dismiss(): Promise<void> {
		const { pid } = this.#child;
		if (!this.#holds && !this.#hasEnded && pid !== undefined) {
			// Not only the shell's end: the flock(1) or bwrap that it may have begun holds the same pipes.
			const closed = once(this.#child, "close");
			for (const pipe of [this.#ready, this.#child.stderr]) pipe?.resume();
			process.kill(-pid, "SIGKILL");
			await closed;
		}
		for (const stream of this.#child.stdio) stream?.destroy();
		this.#child.unref();
	}

	get #stdin(): Writable {
		return this.#child.stdin as Writable;
	}

	get #ready(): Readable {
		return this.#child.stdio[HOLDER_DESCRIPTORS.ready] as Readable;
	}

	get #hasEnded(): boolean {
		return this.#child.exitCode !== null || this.#child.signalCode !== null;
	}

	/** What the supervisor goes on with, in place of its caller's pipes: read to its end before any of it is done. */
	#script(record: BwrapRecord, clock: string): string {
		const { log } = sandboxFolders(this.directory);
		const { info, ready, files } = HOLDER_DESCRIPTORS;
		const last = Math.max(...Object.values(files));
		const above = this.#stray.filter((descriptor) => descriptor > last);
		const command = holderCommand(this.programs, record, this.directory, above);
		const contents = systemFiles(record.sandbox_id);
		const names = Object.keys(contents) as SystemFile[];
		const redirections = names.map((name) => `${files[name]}<<'${END}'`);
		return [
			"{",
			`exec </dev/null >${shellWord(log)} 2>&1 ${info}>&${ready}`,
			"hold() {",
			`${joinText(record.cgroups)}exec ${[...command.map(shellWord), ...redirections].join(" ")}`,
			...names.map((name) => `${contents[name]}${END}`),
			"}",
			`set -- ${shellWord(this.directory)} ${shellWord(clock)} hold`,
			readFileSync(SUPERVISE, "utf8"),
			"}\n",
		].join("\n");
	}
}

async function text(stream: Readable): Promise<string> {
	const chunks = await stream.toArray();
	return Buffer.concat(chunks as Buffer[]).toString("utf8");
}

/** What is said on the pipe up to a word; what was said so far where it closed, or the time was up, without that word. */
async function saidUpTo(
	word: string,
	pipe: Readable,
	child: { once(event: "error", listener: (error: Error) => void): unknown },
	signal: AbortSignal,
): Promise<string> {
	let said = "";
	if (pipe.readableEnded || signal.aborted) return said;
	return new Promise((resolve, reject) => {
		const end = () => {
			pipe.off("data", hear).off("end", end).off("close", end).pause();
			signal.removeEventListener("abort", end);
			resolve(said);
		};
		const hear = (chunk: Buffer) => {
			said += String(chunk);
			if (said.endsWith(word)) end();
		};
		pipe.on("data", hear).once("end", end).once("close", end).resume();
		signal.addEventListener("abort", end, { once: true });
		child.once("error", reject);
	});
}

async function notStarted(
	record: BwrapRecord,
	log: string,
	stillRuns: boolean,
	timeoutSeconds: number,
): Promise<SandboxerError> {
	const text = await readFile(log, "utf8").catch(() => "");
	if (stillRuns && text.trim() === "") {
		return new SandboxerError({
			code: "timeout",
			message: `Sandbox ${record.sandbox_id} did not come up within ${timeoutSeconds} s.`,
			hint: "Give it more time (customTimeouts.create), or look at the load of this machine.",
		});
	}
	return startFailure(record.sandbox_id, text);
}

const infoSchema = z.object({ "child-pid": z.number().int().positive() });

/** @param said - bwrap's report, and after it that the first process is ready. */
async function identify(directory: string, record: BwrapRecord, said: string): Promise<Held> {
	const folders = sandboxFolders(directory);
	const table = new ProcessTable();
	const supervisor = await readSupervisor(folders.supervisor);
	const info = infoSchema.safeParse(parseJson(said.slice(0, -READY.length)));
	const init = info.success ? table.identify(info.data["child-pid"]) : undefined;
	if (supervisor === undefined || init === undefined)
		throw startFailure(record.sandbox_id, await readFile(folders.log, "utf8"));
	return { supervisor, init };
}
