import type { ExecuteOptions, ExecutionResult, Handle, Located, SandboxExtension } from "../contract";
import { SandboxerError } from "../errors";
import type { Settings } from "../registry";
import { findHandle } from "./find-handle";

/** How long a look at a sandbox may take, in seconds. */
const LOOK_TIMEOUT_SECONDS = 60;

/** What the sandbox is opened with. */
export interface OpenSandboxOptions {
	/**
	 * What stands in the stack config of namespace `sandboxer`, by key without the namespace: `bwrap`, `credentials`,
	 * `secrets`, `extensionPath`, ….
	 */
	readonly settings?: Readonly<Record<string, unknown>>;
	/** Default: that of this process. */
	readonly environment?: NodeJS.ProcessEnv;
}

/** A sandbox that exists, to be worked with while it lives. */
export interface OpenSandbox {
	readonly handle: Handle;
	/**
	 * Runs a command (argv, no shell) and waits for its end.
	 *
	 * @param command - The program, then its arguments.
	 * @throws SandboxerError where it could not be started; that it ended with another code than 0 is no error.
	 */
	execute(
		command: readonly string[],
		options?: ExecuteOptions & { readonly signal?: AbortSignal },
	): Promise<ExecutionResult>;
	/** What its backend knows of it. */
	look(): Promise<Located>;
}

/**
 * Opens a sandbox by its handle, as an output of a stack has it, or by all the outputs of a stack in which there
 * is one. Nothing is asked of the backend yet.
 *
 * @example
 * ```ts
 * const { exitCode, stdout } = await openSandbox(handle).execute(["npm", "test"], { timeoutSeconds: 600 });
 * ```
 */
export function openSandbox(handleOrOutputs: unknown, options: OpenSandboxOptions = {}): OpenSandbox {
	const handle = findHandle(handleOrOutputs);
	// Loaded here, so that a program which only imports the package pays neither for YAML nor for schemas.
	const { openExtension } = require("../registry") as typeof import("../registry");
	const extension = openExtension(handle.extension, settingsOf(options), options.environment);
	return {
		handle,
		execute: (command, { signal = new AbortController().signal, ...how } = {}) =>
			extension.execute(handle, command, how, { signal }),
		look: () => look(extension, handle),
	};
}

function settingsOf({ settings = {} }: OpenSandboxOptions): Settings {
	return {
		get: (key) => {
			const value = settings[key.replace(/^sandboxer:/, "")];
			return value === undefined || typeof value === "string" ? value : JSON.stringify(value);
		},
	};
}

async function look(extension: SandboxExtension, handle: Handle): Promise<Located> {
	const { sandbox_id } = handle;
	const call = {
		signal: new AbortController().signal,
		timeoutSeconds: LOOK_TIMEOUT_SECONDS,
		progress: () => undefined,
	};
	const [found] = await extension.locate({ sandboxId: sandbox_id }, call);
	if (found?.handle.generation === handle.generation) return found;
	throw new SandboxerError({
		code: "gone",
		message: `Sandbox ${sandbox_id} of this handle is gone${found === undefined ? "" : ": its id is in use by a later life"}.`,
		details: { sandbox_id },
	});
}
