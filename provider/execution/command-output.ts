import { CredentialMask } from "../credentials";
import { OutputCollector } from "./output-collector";
import type { ExecuteOptions } from "./types";

type Stream = "stdout" | "stderr";

/** What a command writes: counted, kept up to a bound, and handed on. */
export class CommandOutput {
	readonly stdout: OutputCollector;
	readonly stderr: OutputCollector;

	constructor(
		maxBytes: number,
		private readonly listener: ExecuteOptions["onOutput"],
	) {
		this.stdout = new OutputCollector(maxBytes);
		this.stderr = new OutputCollector(maxBytes);
	}

	take(stream: Stream, chunk: Uint8Array): void | Promise<void> {
		this[stream].add(chunk);
		// It is the listener's to keep; the piece is not.
		return this.listener?.(stream, Uint8Array.from(chunk));
	}

	end(): void {}
}

/** The same, without the values of credentials. */
export class MaskedOutput {
	private readonly masks: Readonly<Record<Stream, CredentialMask>>;

	constructor(
		private readonly output: CommandOutput,
		secrets: readonly string[],
	) {
		this.masks = { stdout: new CredentialMask(secrets), stderr: new CredentialMask(secrets) };
	}

	take(stream: Stream, chunk: Uint8Array): void | Promise<void> {
		return this.output.take(stream, this.masks[stream].next(chunk));
	}

	/** What was held back because a value might have begun in it. */
	async end(): Promise<void> {
		const streams = ["stdout", "stderr"] as const;
		await Promise.all(streams.map(async (stream) => this.output.take(stream, this.masks[stream].rest())));
	}
}
