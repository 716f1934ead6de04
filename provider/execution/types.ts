import type { Readable } from "node:stream";

/** How a command runs, see `SandboxExtension.execute`. */
export interface ExecuteOptions {
	/** Names of credentials that the command gets, as its profile's `setup.secret_refs` or the settings route them. */
	readonly credentialRouteRefs?: readonly string[];
	readonly executionContext?: {
		/** Inside the workspace: relative to it, or absolute below /workspace. Default: the workspace itself. */
		readonly cwd?: string;
		/** Beside the sandbox's own; names that a loader or an interpreter obeys are refused. */
		readonly env?: Readonly<Record<string, string>>;
		/** Default: nothing, and closed. */
		readonly stdin?: string | Uint8Array | Readable;
		/** `sandbox` (uid 1000, the default) or `root`: the sandbox's own, without capabilities. */
		readonly user?: "sandbox" | "root";
		/** Given back in the result. */
		readonly correlationId?: string;
	};
	/** More than 0, at most 604800 (7 days); default 300. */
	readonly timeoutSeconds?: number;
	/** How much of each output is kept, in bytes, at most 64 MiB; default 1 MiB. What is beyond is counted, not kept. */
	readonly maxOutputBytes?: number;
	/** Takes the values of these credentials out of all output, wherever they stand in it as they are. Default: no. */
	readonly maskCredentials?: boolean;
	/** Refuses unless the sandbox is held for this stack. Default: whoever may enter it on its host. */
	readonly owner?: { readonly scope: string; readonly project: string; readonly stack: string };
	/** Each piece of output as it comes, whole, before any bound. A promise holds the command back. */
	readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => void | Promise<void>;
}

/** What was kept of an output. */
export interface OutputExcerpt {
	/** Cut on a character. Bytes that are no UTF-8 stand as U+FFFD. */
	readonly text: string;
	/** Something was left out. */
	readonly truncated: boolean;
	/** All that the command wrote, kept or not. */
	readonly bytes: number;
	/** False where the kept part is no UTF-8. */
	readonly isText: boolean;
}

/** What became of a command that was started. */
export interface ExecutionResult {
	/** From its wait status; 128 + n where signal n ended it. `null` where we ended it. */
	readonly exitCode: number | null;
	/** Set where we ended it, at the limit. */
	readonly signal: "SIGKILL" | null;
	readonly timedOut: boolean;
	readonly stdout: OutputExcerpt;
	readonly stderr: OutputExcerpt;
	readonly durationMs: number;
	readonly correlationId?: string;
}

/** A command as a backend gets it: everything checked and resolved. */
export interface Command {
	/** Program and arguments; the program is found on the sandbox's PATH. */
	readonly argv: readonly string[];
	/** Absolute, inside the sandbox. */
	readonly cwd: string;
	readonly user: "sandbox" | "root";
	/** Beside the sandbox's own environment. May hold secrets: never in argv, a log, or a shared place. */
	readonly env: Readonly<Record<string, string>>;
	/** File name → content, below /run/secrets, for this command alone. Secret. */
	readonly secretFiles: Readonly<Record<string, string>>;
	readonly stdin: Readable | undefined;
	/** Takes a piece of output; wait for it before the next. */
	output(stream: "stdout" | "stderr", chunk: Uint8Array): Promise<void> | void;
}

/** How a command came to its end. */
export interface CommandEnd {
	/** `null` where the backend ended it. */
	readonly exitCode: number | null;
	/** The limit of the call ended it. */
	readonly timedOut: boolean;
}
