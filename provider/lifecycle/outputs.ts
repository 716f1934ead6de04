import type { Controls, Handle, Json, Lease, Reachability, Ready } from "../contract";
import type { SandboxInputs } from "./inputs";

/** The layout of the outputs; counts up when a state of an earlier layout needs another reading. */
export const STATE_VERSION = 1;

/**
 * Where a sandbox stands. `waiting`: made, but the wait for it failed; the next up waits again. `gone`: it does
 * not run, but something of it is left. `expired`: the same, by its lease. `altered`: it runs, but a control
 * does not hold any more.
 */
export type Phase = "ready" | "waiting" | "gone" | "expired" | "altered";

/** What the state holds beside the inputs. */
export interface SandboxResult {
	readonly phase: Phase;
	readonly stateVersion: number;
	readonly handle: Handle;
	readonly reachability?: Reachability;
	readonly workspaceDir?: string;
	readonly lease?: Lease;
	readonly controls?: Controls;
	/** Secret: encrypted anew at each of the engine's writes. Absent where there are none. */
	readonly credentials?: Readonly<Record<string, string>>;
}

export type SandboxOutputs = Omit<SandboxInputs, "phase"> & SandboxResult;

const RESULT_KEYS = [
	"stateVersion",
	"handle",
	"reachability",
	"workspaceDir",
	"lease",
	"controls",
	"credentials",
] as const satisfies readonly (keyof SandboxResult)[];

/** Outputs that a program, a person or a command reads. */
export const SHOWN = ["sandboxId", "extension", "phase", "route", "quote", ...RESULT_KEYS] as const;

export function readyOutputs(inputs: SandboxInputs, handle: Handle, ready: Ready): SandboxOutputs {
	const { reachability, workspaceDir, lease, controls, credentials } = ready;
	return {
		...inputs,
		phase: "ready",
		stateVersion: STATE_VERSION,
		handle,
		reachability,
		workspaceDir,
		lease,
		controls,
		...(credentials === undefined ? {} : { credentials }),
	};
}

export function waitingOutputs(inputs: SandboxInputs, handle: Handle): SandboxOutputs {
	return { ...inputs, phase: "waiting", stateVersion: STATE_VERSION, handle };
}

/** The outputs with new inputs, and what the backend said kept: for changes that touch no backend. */
export function restamped(inputs: SandboxInputs, olds: SandboxOutputs): SandboxOutputs {
	const kept = Object.fromEntries(RESULT_KEYS.filter((key) => olds[key] !== undefined).map((key) => [key, olds[key]]));
	return { ...inputs, ...kept, phase: olds.phase, handle: olds.handle, stateVersion: STATE_VERSION };
}

/** The inputs that outputs were made of, with the phase as it is: what refresh shows as drift. */
export function inputsOf(outputs: SandboxOutputs): Record<string, unknown> {
	const entries = Object.entries(outputs as unknown as Record<string, Json>);
	return Object.fromEntries(entries.filter(([key]) => !(RESULT_KEYS as readonly string[]).includes(key)));
}
