import type { enter } from "../../../../extensions/bwrap/entry/enter";
import type {
	CleanupReport,
	Finding,
	Handle,
	LeaseTerms,
	Located,
	Owner,
	Profile,
	Provisioned,
	Ready,
	SnapshotMeta,
} from "../../../../provider/contract";
import type { ErrorCode, ErrorDetails } from "../../../../provider/errors";

/** What a provision is asked for, as data. */
export interface Wish {
	readonly sandboxId: string;
	readonly profile: Profile;
	readonly inputs: Readonly<Record<string, string>>;
	readonly ttlSeconds: number;
	readonly digest: string;
}

/** What a provider process does when told; each by its argument and its answer. */
export interface Jobs {
	provision: { readonly takes: Wish; readonly gives: Provisioned };
	waitReady: { readonly takes: Handle; readonly gives: Ready };
	teardown: { readonly takes: Handle; readonly gives: CleanupReport };
	locate: { readonly takes: Record<never, never>; readonly gives: readonly Located[] };
	extendLease: { readonly takes: Extension; readonly gives: string };
	/** `null` where its lease is not over. */
	expire: { readonly takes: Handle; readonly gives: CleanupReport | null };
	inventory: { readonly takes: Record<never, never>; readonly gives: readonly Finding[] };
	reap: { readonly takes: Finding; readonly gives: CleanupReport };
	enter: { readonly takes: Entry; readonly gives: Entered };
	snapshot: { readonly takes: SnapshotWish; readonly gives: SnapshotMeta };
	snapshots: { readonly takes: { readonly sandboxId?: string }; readonly gives: readonly SnapshotMeta[] };
	removeSnapshot: { readonly takes: SnapshotMeta; readonly gives: CleanupReport };
	restore: { readonly takes: { readonly snapshot: SnapshotMeta; readonly wish: Wish }; readonly gives: Provisioned };
	/** Ends the process, hard, as soon as it comes to a checkpoint. */
	dieAt: { readonly takes: string; readonly gives: true };
}

export interface SnapshotWish {
	readonly handle: Handle;
	readonly snapshotId: string;
	readonly labels?: Readonly<Record<string, string>>;
	readonly keepSeconds?: number;
	readonly owner?: Owner;
	readonly timeoutSeconds?: number;
}

/** What became of a command. */
export type Entered = Awaited<ReturnType<typeof enter>>;

export interface Extension {
	readonly handle: Handle;
	readonly expiresAt?: string;
	readonly terms?: LeaseTerms;
}

/** A command in a sandbox; the record may be another than the one on the disk. */
export interface Entry {
	readonly directory: string;
	readonly command: readonly string[];
	readonly timeoutSeconds: number;
	readonly record?: Readonly<Record<string, unknown>>;
}

export interface Order<Job extends keyof Jobs = keyof Jobs> {
	readonly number: number;
	readonly job: Job;
	readonly takes: Jobs[Job]["takes"];
}

export interface Answer {
	readonly number: number;
	readonly gives?: unknown;
	readonly error?: {
		readonly code: ErrorCode;
		readonly message: string;
		readonly hint?: string;
		readonly details: ErrorDetails;
	};
}
