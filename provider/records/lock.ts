import {
	close,
	closeSync,
	constants,
	fstatSync,
	ftruncateSync,
	openSync,
	readFileSync,
	statSync,
	writeSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";
import { hasErrno, SandboxerError } from "../errors";
import { run } from "../transport";

export interface LockOptions {
	/** What is locked, for messages: "sandbox demo". */
	readonly what: string;
	readonly signal: AbortSignal;
	/** How long to wait for a live holder. */
	readonly timeoutSeconds: number;
	readonly path: string;
	/** Takes the lock on a descriptor, as flock(1) does. For a caller whose own program does so before its other work. */
	readonly take?: (descriptor: number, waitSeconds: number) => Promise<LockAttempt>;
}

/** How flock(1) ended: 0 with the lock, 1 without a word where the wait ran out. */
export interface LockAttempt {
	readonly exitCode: number | null;
	readonly stderr: string;
}

/** A lock that is held. */
export interface HeldLock {
	/** The descriptor that carries it: whoever else holds this descriptor open holds the lock too. */
	readonly descriptor: number;
}

/** What flock(1) answers when the wait ran out; its own errors are above. */
const FLOCK_TIMED_OUT = 1;

/**
 * Does some work under an exclusive lock of this machine. The kernel holds it (flock(2)), on a
 * descriptor of this process: it ends with the process, however that ends, and there is no stale lock to
 * judge. The file is gone afterwards.
 */
export async function withLock<T>(
	file: string,
	options: LockOptions,
	work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
	const descriptor = await acquire(file, options);
	let result: T;
	try {
		result = await work({ descriptor });
	} catch (thrown) {
		// What the work failed of is what is told.
		await release(file, descriptor).catch(() => undefined);
		throw thrown;
	}
	await release(file, descriptor);
	return result;
}

async function release(file: string, descriptor: number): Promise<void> {
	try {
		await rm(file, { force: true });
	} finally {
		// With a removed file's last descriptor the file goes, and for that the journal of the disk may have to be waited for.
		await promisify(close)(descriptor);
	}
}

/** Whether somebody holds the lock just now. Leaves the file as it is, and makes none. */
export async function isLocked(file: string, { signal, path }: Pick<LockOptions, "signal" | "path">): Promise<boolean> {
	let descriptor: number;
	try {
		descriptor = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW);
	} catch (thrown) {
		if (hasErrno(thrown, "ENOENT")) return false;
		throw thrown;
	}
	try {
		const { exitCode } = await run("flock", ["--exclusive", "--nonblock", "3"], {
			env: { PATH: path },
			signal,
			timeoutSeconds: 5,
			descriptors: [descriptor],
		});
		// Whatever else went wrong: it may be held.
		return exitCode !== 0;
	} finally {
		closeSync(descriptor);
	}
}

/** Takes microseconds but for the wait, and less than a way to another thread and back. */
async function acquire(file: string, options: LockOptions): Promise<number> {
	for (;;) {
		// Whoever does not hold the lock must not remove the file that is made here.
		if (options.signal.aborted) throw stopped(options.what);
		const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
		try {
			await flock(descriptor, file, options);
			// Whoever held it before us has removed the file: then this is a lock on nothing.
			if (isStill(file, descriptor)) {
				ftruncateSync(descriptor);
				writeSync(descriptor, String(process.pid), 0);
				return descriptor;
			}
		} catch (thrown) {
			closeSync(descriptor);
			throw thrown;
		}
		closeSync(descriptor);
	}
}

function stopped(what: string): SandboxerError {
	return new SandboxerError({ code: "aborted", message: `${what} was not locked, because the caller asked to stop.` });
}

/** flock(1) locks the open file that both descriptors, its own and ours, stand for. */
async function flock(
	descriptor: number,
	file: string,
	{ what, signal, timeoutSeconds, path, take }: LockOptions,
): Promise<void> {
	const byFlock = () =>
		run("flock", ["--exclusive", "--wait", String(timeoutSeconds), "3"], {
			env: { PATH: path },
			signal,
			timeoutSeconds: timeoutSeconds + 5,
			descriptors: [descriptor],
		});
	const { exitCode, stderr } = await (take?.(descriptor, timeoutSeconds) ?? byFlock());
	if (exitCode === 0) return;
	if (exitCode === FLOCK_TIMED_OUT && stderr === "") {
		const holder = readFileSync(descriptor, "utf8").trim();
		throw new SandboxerError({
			code: "timeout",
			message: `${what} is being worked on by process ${holder === "" ? "(unknown)" : holder}, which has not let go for ${timeoutSeconds} s.`,
			hint: "Wait for that run to end, or end it, and try again.",
			details: { holder, lock: file },
		});
	}
	throw new SandboxerError({
		code: "unknown",
		message: `The lock of ${what} could not be had: flock ended with ${exitCode}: ${stderr.trim()}.`,
	});
}

function isStill(file: string, descriptor: number): boolean {
	const there = statSync(file, { throwIfNoEntry: false });
	const ours = fstatSync(descriptor);
	return there?.ino === ours.ino && there.dev === ours.dev;
}
