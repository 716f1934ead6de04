import type { Call, SandboxExtension } from "../contract";

/** What the lifecycle is given from outside for one call. */
export interface Backend {
	readonly extension: SandboxExtension;
	/** Fires when the engine is gone or the run is being stopped. */
	readonly signal: AbortSignal;
	/** UTC, milliseconds since 1970. */
	now(): number;
	/** Short-lived, on the resource's own row. */
	progress(message: string): void;
	/** Permanent, on the resource's own row. */
	info(message: string): void;
	warn(message: string): void;
}

/** How long a create, an update and a delete may take where the program does not say. */
export const DEFAULT_TIMEOUT_SECONDS = 300;
/** How long a look at a sandbox may take. */
export const READ_TIMEOUT_SECONDS = 60;

export function callOf(backend: Backend, timeoutSeconds: number): Call {
	return { signal: backend.signal, timeoutSeconds, progress: (message) => backend.progress(message) };
}

/** A call that goes on after the caller is gone: for removing what was begun. */
export function cleanupCall(backend: Backend, timeoutSeconds: number): Call {
	return { signal: new AbortController().signal, timeoutSeconds, progress: (message) => backend.progress(message) };
}
