/** What kind of trouble it is; decides how the lifecycle goes on, never how the message reads. */
export type ErrorCode =
	/** A value in a profile, a declaration or an argument is not acceptable; nothing was started. */
	| "invalid"
	/** The backend cannot do what was asked for; nothing was started. */
	| "unsupported"
	/** The sandbox belongs to somebody else, or exists in another shape; it was not touched. */
	| "conflict"
	/** This machine or host lacks something (a tool, a permission, a kernel setting). */
	| "preflight"
	/** A control that the profile promises was probed and does not hold. */
	| "control"
	/** Proved: the sandbox does not exist any more. */
	| "gone"
	/** No certain answer was had; never treated as gone, zero or allowed. */
	| "unknown"
	/** A command could not be started in a sandbox: it is not there, or may not be run. */
	| "not-started"
	/** A command that a stack declares ended with an exit code that it may not. */
	| "failed"
	/** A bounded wait ran out. */
	| "timeout"
	/** The caller went away or asked to stop. */
	| "aborted"
	/** A removal is not complete. */
	| "remains"
	/** A credential is missing or was refused. */
	| "auth"
	/** A bug in this package. */
	| "internal";

/** The facts of a {@link SandboxerError}. Plain JSON; never a secret. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** What a {@link SandboxerError} is made of. */
export interface SandboxerErrorOptions {
	readonly code: ErrorCode;
	/** A sentence with the fact in it: the step, the field, host or vendor, and the sandbox id. */
	readonly message: string;
	/** The way out, as a sentence. */
	readonly hint?: string;
	readonly details?: ErrorDetails;
	readonly cause?: unknown;
}

/**
 * The one error class of this package: what happened, and the way out.
 *
 * @example
 * ```ts
 * throw new SandboxerError({
 *   code: "preflight",
 *   message: "bwrap was not found on PATH.",
 *   hint: "Install it: sudo apt-get install bubblewrap.",
 * });
 * ```
 */
export class SandboxerError extends Error {
	override readonly name = "SandboxerError";
	readonly code: ErrorCode;
	readonly hint: string | undefined;
	readonly details: ErrorDetails;

	constructor({ code, message, hint, details = {}, cause }: SandboxerErrorOptions) {
		super(message, cause === undefined ? undefined : { cause });
		this.code = code;
		this.hint = hint;
		this.details = details;
	}

	/** The fact and the way out, as one text for a person. */
	get text(): string {
		return this.hint === undefined ? this.message : `${this.message} ${this.hint}`;
	}

	/** Whatever was thrown, as a `SandboxerError`; one that already is passes through unchanged. */
	static from(thrown: unknown): SandboxerError {
		if (thrown instanceof SandboxerError) return thrown;
		return new SandboxerError({ code: "internal", message: messageOf(thrown), cause: thrown });
	}
}

/** By shape: an error of another realm is no instance of this one's Error. */
function messageOf(thrown: unknown): string {
	if (typeof thrown !== "object" || thrown === null || !("message" in thrown)) return String(thrown);
	return String(thrown.message);
}

/** Whether something thrown is a `SandboxerError` of that code. */
export function hasCode(thrown: unknown, code: ErrorCode): thrown is SandboxerError {
	return thrown instanceof SandboxerError && thrown.code === code;
}
