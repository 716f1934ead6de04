import type { CredentialRoute } from "../credentials";
import type { SandboxerError } from "../errors";

/** Plain JSON: what may stand in a state, a record or a handle. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Whose sandbox it is: one resource of one stack. `scope` tells two clones of one program apart. */
export interface Owner {
	readonly scope: string;
	readonly project: string;
	readonly stack: string;
	readonly urn: string;
}

/** Who the sandbox is for. Ends up in labels, ledger entries and usage records; never in the inputs. */
export interface Consumer {
	/** A person (adm), an agent (agt) or an automation (atm). */
	readonly actor: "adm" | "agt" | "atm";
	readonly project: string;
}

/**
 * What names a sandbox on its backend. Data, snake_case, nothing secret; each extension adds its own
 * fields. It is checked against the backend at every use, because a state can be old or edited.
 */
export interface Handle {
	/** The extension that made it, such as "ext.bwrap". */
	readonly extension: string;
	readonly sandbox_id: string;
	/** Where it lives: "local", a host, a vendor's region. */
	readonly host: string;
	/** Which life of that id this is. A handle of an earlier life never touches a later one. */
	readonly generation: number;
	readonly [key: string]: Json;
}

/** How the sandbox is reached. Data, snake_case, nothing secret; each extension adds its own fields. */
export interface Reachability {
	readonly host: string;
	readonly ssh?: string;
	readonly remote_dir?: string;
	readonly compose_project?: string;
	readonly [key: string]: Json | undefined;
}

/** UTC, ISO 8601, by the clock of the place where the sandbox lives. */
export interface Lease {
	readonly readyAt: string;
	/** readyAt + ttl; enforced where the sandbox lives. */
	readonly expiresAt: string;
}

/** What a profile says of leases; may change while the sandbox runs. */
export interface LeaseTerms {
	/** The longest lease, in seconds from `readyAt`. */
	readonly maxSeconds: number;
	/** The sandbox ends after this long without activity, in seconds; absent: never. */
	readonly idleSeconds?: number;
}

/** How far a promise of the profile holds on this backend. */
export type ControlStatus = "enforced" | "enforced-with-gaps" | "unsupported";

/** One promise, as proved by a probe (`evidence`), or with its gaps named. */
export interface Control {
	readonly status: ControlStatus;
	/** What enforces it, what the probe saw, or what is missing. */
	readonly note: string;
}

/** Promise → what became of it: `isolation`, `network`, `memory`, `cpu`, `pids`, `disk`, … */
export type Controls = Readonly<Record<string, Control>>;

/** What `waitReady` saw. */
export interface Ready {
	readonly reachability: Reachability;
	/** The sandbox's workspace as the owner on its host sees it. */
	readonly workspaceDir: string;
	readonly lease: Lease;
	readonly controls: Controls;
	/** Secret. Stands under one secret output. */
	readonly credentials?: Readonly<Record<string, string>>;
}

/** What a teardown found, what it removed, and what is still there: one line a thing ("process 4242", "directory /…"). */
export interface CleanupReport {
	readonly found: readonly string[];
	readonly removed: readonly string[];
	readonly remains: readonly string[];
}

/** What a call brings along, whatever the method. */
export interface Call {
	/** Fires when the caller is gone or wants to stop: end what this call started, then throw. */
	readonly signal: AbortSignal;
	/** The bound of the whole call, in seconds. */
	readonly timeoutSeconds: number;
	/** Says in a few words what is being done, on the resource's own row. */
	progress(message: string): void;
}

/** What a search for sandboxes brings along. */
export interface LocateCall extends Call {
	/**
	 * Told why a sandbox that was found cannot be told of. Without it the first such one fails the whole search:
	 * unknown is never taken for gone.
	 */
	readonly unreadable?: (failure: SandboxerError) => void;
}

/** What a change of a lease brings along. */
export interface LeaseCall extends Call {
	/** In force from here on; absent: as they were. */
	readonly terms?: LeaseTerms;
}

/** What a `provision` is for. */
export interface ProvisionRequest extends Call {
	readonly sandboxId: string;
	readonly owner: Owner;
	/** Of all that replaces a sandbox: the same digest is the same sandbox. */
	readonly digest: string;
	/** Lease in seconds, capped already. */
	readonly ttlSeconds: number;
	readonly consumer?: Consumer;
	readonly labels: Readonly<Record<string, string>>;
	/** The handle that this very resource holds already: the sandbox is gone on with, not given another holder. */
	readonly resumes?: Handle;
}

/** What a `provision` ended with. */
export interface Provisioned {
	readonly handle: Handle;
	/** It was there already, or its handle in a state was: a caller that stops halfway must leave it alone. */
	readonly adopted: boolean;
}

/** Who holds a sandbox and for whom: what a `claim` rewrites. */
export interface Attribution {
	readonly owner: Owner;
	readonly consumer?: Consumer;
	readonly labels: Readonly<Record<string, string>>;
}

/** A sandbox as found on its backend. */
export interface Located extends Attribution {
	readonly handle: Handle;
	readonly digest: string;
	/** `provisioning` until its create came to its end. */
	readonly phase: "provisioning" | "ready";
	/** Whether it runs; `undefined` where that is not certain. */
	readonly alive: boolean | undefined;
	/** UTC, ISO 8601, when its record was first written. */
	readonly createdAt: string;
	/** UTC, ISO 8601; absent until it is ready: a create that never ended is stuck, not expired. */
	readonly readyAt?: string;
	/** UTC, ISO 8601, by the clock of the place where it lives; absent until it is ready. */
	readonly expiresAt?: string;
	/** Whether the lease is over, by the clock of the place where it lives; absent until it is ready. */
	readonly isOver?: boolean;
	/** How far this caller's UTC is ahead of the clock that decides on the lease, in seconds; absent where nobody can say. */
	readonly clockAheadSeconds?: number;
	/** Of the profile it was made by. */
	readonly profile: { readonly id: string; readonly version: string };
	/** Credential references that its profile declares. */
	readonly credentialRoutes: readonly CredentialRoute[];
}

/** A cost, in micro-USD, integer. */
export interface MeterQuote {
	readonly perHourMicroUsd: number;
	readonly forLeaseMicroUsd: number;
}

/** What a snapshot is taken of, and how it is called. */
export interface SnapshotRequest extends Call {
	/** Names it in its place; letters, digits and dashes, as a sandbox id. */
	readonly snapshotId: string;
	readonly labels: Readonly<Record<string, string>>;
	/** How long it is kept, in seconds; absent: until somebody removes it. */
	readonly keepSeconds?: number;
	/** The resource it is for: one of the same id, owner and life of the sandbox that is there already is the one asked for. */
	readonly owner?: Owner;
}

/** A taken snapshot. Data, snake_case, nothing secret; each extension adds its own fields. */
export interface SnapshotMeta {
	readonly extension: string;
	readonly snapshot_id: string;
	/** What is in it: "workspace" for the files alone. */
	readonly kind: string;
	/** Where it was taken from. */
	readonly sandbox_id: string;
	readonly profile: { readonly id: string; readonly version: string };
	/** UTC, ISO 8601. */
	readonly created_at: string;
	/** UTC, ISO 8601, when retention removes it; absent: never. */
	readonly expires_at?: string;
	/** Of the stored archive. */
	readonly size_bytes: number;
	/** Of the stored archive, hexadecimal. */
	readonly sha256: string;
	readonly file_count: number;
	/** False where something changed while it was read: `changed` then names it. */
	readonly consistent: boolean;
	/** Paths that changed while they were read, at most 20. */
	readonly changed: readonly string[];
	readonly labels: Readonly<Record<string, string>>;
	readonly [key: string]: Json | undefined;
}

/** Something on a backend that no sandbox accounts for, or that its sandbox has outlived. */
export interface Finding {
	/**
	 * `orphan_dir`: a folder without a record. `zombie_record`: a record whose sandbox does not run. `aged_dir`: a
	 * create that was never finished, or a lease long over. `orphan_process`: a process without a record.
	 */
	readonly kind: "orphan_dir" | "zombie_record" | "aged_dir" | "orphan_process";
	/** What it is, such as "directory /…" or "process 4242". */
	readonly what: string;
	readonly sandboxId?: string;
	/** reap: removing it harms nothing; inspect: look first; ignore: it will be gone by itself. */
	readonly action: "reap" | "inspect" | "ignore";
	readonly reason: string;
}

export type { CredentialRoute } from "../credentials";
export type { Command, CommandEnd, ExecuteOptions, ExecutionResult, OutputExcerpt } from "../execution";
