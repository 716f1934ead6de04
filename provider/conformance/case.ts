import type { Checkpoint } from "../contract/checkpoint";
import type { ProgramInside } from "./adapter";
import type { Bench } from "./bench";

/** What a case needs of an adapter, or of the extension, to be shown at all. */
export type Need =
	| "traces"
	| "crash"
	| `checkpoint ${Checkpoint}`
	| ProgramInside
	| "process isolation"
	| "network deny"
	| "a memory limit"
	| "locate"
	| "claim"
	| "execution"
	| "leases"
	| "expire"
	| "plant"
	| "snapshots";

/** One thing that an extension must do, tried once. */
export interface Case {
	readonly name: string;
	readonly needs?: readonly Need[];
	/** Throws where it does not. */
	run(bench: Bench): Promise<void>;
}

/** Names the parts of a report. */
export type PartName = "lifecycle" | "handles" | "execution" | "snapshots" | "leases";

export interface Part {
	readonly name: PartName;
	readonly cases: readonly Case[];
}
