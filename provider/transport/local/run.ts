import { once } from "node:events";
import type { Readable } from "node:stream";
import { errnoOf, SandboxerError } from "../../errors";
import { type ChildDescriptors, spawnClean } from "./spawn-clean";

export interface RunOptions {
	readonly env: Readonly<Record<string, string>>;
	readonly signal: AbortSignal;
	readonly timeoutSeconds: number;
	/** Descriptors from 3 on. */
	readonly descriptors?: ChildDescriptors;
	/** As of `spawnClean`. */
	readonly stray?: readonly number[];
	/** More output than this fails the run. */
	readonly maxOutputBytes?: number;
}

export interface RunResult {
	readonly exitCode: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
}

/**
 * Runs a program of this machine to its end, bounded in time and output, with nothing of the caller's
 * environment. Ends its whole process group at the limit and when the caller stops.
 */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
	const { maxOutputBytes = 1024 * 1024 } = options;
	if (options.signal.aborted) throw stopped(command);
	const child = spawnClean(command, args, {
		env: options.env,
		stdio: ["ignore", "pipe", "pipe", ...(options.descriptors ?? [])],
		detached: true,
		...(options.stray === undefined ? {} : { stray: options.stray }),
	});
	const end = () => {
		if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
			process.kill(-child.pid, "SIGKILL");
		// What left the group may hold the other end for as long as it likes.
		for (const stream of [child.stdout, child.stderr]) stream?.destroy();
	};
	let timedOut = false;
	const timer = setTimeout(() => {
		timedOut = true;
		end();
	}, options.timeoutSeconds * 1000);
	options.signal.addEventListener("abort", end, { once: true });
	try {
		const stdout = collect(child.stdout, maxOutputBytes, end);
		const stderr = collect(child.stderr, maxOutputBytes, end);
		const [exitCode, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
		const said = { stdout: await stdout, stderr: await stderr };
		if (options.signal.aborted) throw stopped(command);
		if (timedOut) {
			throw new SandboxerError({
				code: "timeout",
				message: `${command} did not end within ${options.timeoutSeconds} s.`,
				hint: "It was ended.",
			});
		}
		return { exitCode, signal, ...said };
	} finally {
		clearTimeout(timer);
		options.signal.removeEventListener("abort", end);
		for (const stream of child.stdio) stream?.destroy();
	}
}

async function collect(stream: Readable | null, maxBytes: number, end: () => void): Promise<string> {
	if (stream === null) return "";
	const chunks: Buffer[] = [];
	let bytes = 0;
	try {
		for await (const chunk of stream) {
			bytes += (chunk as Buffer).length;
			if (bytes > maxBytes) {
				end();
				break;
			}
			chunks.push(chunk as Buffer);
		}
	} catch (thrown) {
		// The run itself was cut short, and says why.
		if (errnoOf(thrown) !== "ERR_STREAM_PREMATURE_CLOSE") throw thrown;
	}
	return Buffer.concat(chunks).toString("utf8");
}

function stopped(command: string): SandboxerError {
	return new SandboxerError({
		code: "aborted",
		message: `${command} was stopped, because the caller went away or asked to stop.`,
	});
}
