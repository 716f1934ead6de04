import type {
	Attribution,
	CleanupReport,
	ExecuteOptions,
	ExecutionResult,
	ExtensionDeclaration,
	ExtensionInputs,
	Finding,
	Handle,
	LeaseTerms,
	Located,
	Owner,
	Problem,
	Profile,
	Provisioned,
	ProvisionRequest,
	Ready,
	SnapshotMeta,
	SnapshotRequest,
} from "../contract";
import type { Call } from "../contract/types";
import type { ErrorCode } from "../errors";

/** What a calling process is started with, as JSON in its environment. */
export interface Setup {
	readonly declaration: ExtensionDeclaration;
	readonly handler: string;
	readonly config: Readonly<Record<string, unknown>>;
	/** Set once it runs: what a program would obey before it does. */
	readonly environment: Readonly<Record<string, string>>;
	readonly credentials: readonly unknown[];
}

/** The name of the variable that holds a {@link Setup}. */
export const SETUP_VARIABLE = "CONFORMANCE_SETUP";

/** What an extension says of itself, offline. */
export interface Abilities {
	readonly execution: boolean;
	readonly snapshots: boolean;
	readonly leaseExtension: boolean;
	/** Methods that it has of its own. */
	readonly implements: readonly string[];
	readonly problems: readonly Problem[];
}

/** A standard input as it goes to the calling process: as it is, or a stream that is made there. */
export type StdinOrder =
	| string
	| Uint8Array
	| { readonly stream: "zeros"; readonly bytes: number }
	| { readonly stream: "open" };

/** Options of an execution as they go to the calling process. */
export interface ExecuteOrder extends Omit<ExecuteOptions, "onOutput" | "executionContext"> {
	readonly executionContext?: Omit<NonNullable<ExecuteOptions["executionContext"]>, "stdin"> & {
		readonly stdin?: StdinOrder;
	};
	/** Each piece of output is sent over and waited for. */
	readonly watched?: boolean;
}

/** What a calling process does when told: each by its argument and its answer. */
export interface Jobs {
	provision: { readonly takes: Wish; readonly gives: Provisioned };
	waitReady: { readonly takes: Handle; readonly gives: Ready };
	teardown: { readonly takes: Handle; readonly gives: CleanupReport };
	locate: {
		readonly takes: { readonly owner: Owner } | { readonly sandboxId: string } | Record<never, never>;
		readonly gives: readonly Located[];
	};
	claim: { readonly takes: { readonly handle: Handle; readonly attribution: Attribution }; readonly gives: Handle };
	extendLease: {
		readonly takes: { readonly handle: Handle; readonly expiresAt?: string; readonly terms?: LeaseTerms };
		readonly gives: string;
	};
	expire: { readonly takes: Handle; readonly gives: CleanupReport | undefined };
	inventory: { readonly takes: undefined; readonly gives: readonly Finding[] };
	snapshot: {
		readonly takes: { readonly handle: Handle; readonly request: Omit<SnapshotRequest, keyof Call> };
		readonly gives: SnapshotMeta;
	};
	snapshots: { readonly takes: { readonly sandboxId?: string }; readonly gives: readonly SnapshotMeta[] };
	removeSnapshot: { readonly takes: SnapshotMeta; readonly gives: CleanupReport };
	restoreFromSnapshot: {
		readonly takes: Wish & { readonly snapshot: SnapshotMeta };
		readonly gives: Provisioned;
	};
	execute: {
		readonly takes: { readonly handle: Handle; readonly command: readonly string[]; readonly options: ExecuteOrder };
		readonly gives: ExecutionResult;
	};
	/** Holds the clock of the extension's host at a time (milliseconds since 1970), or lets it run. */
	clock: { readonly takes: number | undefined; readonly gives: true };
	/** Ends the process, hard, as soon as it comes to a checkpoint. */
	dieAt: { readonly takes: string; readonly gives: true };
	/** The most memory that the process has ever had resident, in bytes. */
	memory: { readonly takes: undefined; readonly gives: number };
}

/** A provision, as data. */
export interface Wish extends Omit<ProvisionRequest, keyof Call> {
	readonly profile: Profile;
	readonly inputs: ExtensionInputs;
	readonly host: string;
}

/** To the calling process. */
export type Order =
	| { readonly number: number; readonly job: keyof Jobs; readonly takes: unknown; readonly timeoutSeconds: number }
	| { readonly abort: number }
	| { readonly taken: number };

/** From it. */
export type Answer =
	| { readonly number: number; readonly gives: unknown }
	| { readonly number: number; readonly error: TransferredError }
	| {
			readonly number: number;
			readonly piece: number;
			readonly stream: "stdout" | "stderr";
			readonly chunk: Uint8Array;
	  };

export interface TransferredError {
	readonly code: ErrorCode;
	readonly message: string;
	readonly hint?: string;
	readonly details: Readonly<Record<string, unknown>>;
}
