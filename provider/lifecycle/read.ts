import type { Handle } from "../contract";
import { SandboxerError } from "../errors";
import { utcMilliseconds } from "../lease/utc";
import { type Backend, callOf, READ_TIMEOUT_SECONDS } from "./backend";
import type { SandboxInputs } from "./inputs";
import { inputsOf, type Phase, readyOutputs, restamped, type SandboxOutputs } from "./outputs";

/** What a refresh found; `outputs` undefined where the sandbox is proved gone. */
export interface Seen {
	readonly outputs: SandboxOutputs;
	readonly inputs: Record<string, unknown>;
}

/**
 * Looks once. Present: the outputs. Proved gone: undefined. Dead with something left, or not as it was made:
 * kept, with a phase that makes the next up replace it. No certain answer: an error, and the state stays.
 */
export async function read(backend: Backend, id: string, props: Partial<SandboxOutputs>): Promise<Seen | undefined> {
	const call = callOf(backend, READ_TIMEOUT_SECONDS);
	const handle = props.handle ?? (await locate(backend, id));
	if (handle === undefined) return undefined;
	const olds = { ...props, handle, sandboxId: id } as SandboxOutputs;
	try {
		const ready = await backend.extension.waitReady(handle, call);
		return seen(
			readyOutputs(restamped(olds as unknown as SandboxInputs, olds) as unknown as SandboxInputs, handle, ready),
		);
	} catch (thrown) {
		const error = SandboxerError.from(thrown);
		if (error.code === "gone") {
			backend.info(error.text);
			return undefined;
		}
		const phase = phaseOf(backend, error, olds);
		if (phase === undefined) throw error;
		backend.warn(error.text);
		return seen({ ...restamped(olds as unknown as SandboxInputs, olds), phase });
	}
}

function seen(outputs: SandboxOutputs): Seen {
	return { outputs, inputs: inputsOf(outputs) };
}

function phaseOf(backend: Backend, error: SandboxerError, { lease }: SandboxOutputs): Phase | undefined {
	if (error.code === "control") return "altered";
	if (error.code !== "remains") return undefined;
	const { expired } = error.details;
	// By the clock of the place where it lived, where the extension says so.
	if (typeof expired === "boolean") return expired ? "expired" : "gone";
	const end = lease === undefined ? undefined : utcMilliseconds(lease.expiresAt);
	return end !== undefined && end <= backend.now() ? "expired" : "gone";
}

/** `Sandbox.get` knows the id only. */
async function locate(backend: Backend, id: string): Promise<Handle | undefined> {
	const [found] = await backend.extension.locate({ sandboxId: id }, callOf(backend, READ_TIMEOUT_SECONDS));
	return found?.handle;
}
