import { SandboxerError } from "../errors";

/** Throws `aborted` once the signal has fired. `step` is what was being done, such as `the copy of inputs.repo "/srv/app"`. */
export function stopIfAborted(signal: AbortSignal, step: string): void {
	if (!signal.aborted) return;
	const cause: unknown = signal.reason;
	throw new SandboxerError({ code: "aborted", message: `Stopped before its end: ${step}.`, cause });
}
