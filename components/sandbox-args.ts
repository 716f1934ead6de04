import type * as pulumi from "@pulumi/pulumi";
import type { SnapshotMeta } from "../provider/contract/types";
import type { CredentialRoute } from "../provider/credentials";

/** What a sandbox may reach over the network. */
export interface NetworkArgs {
	/** `deny`: its own loopback only. `allow`: what the machine reaches. */
	readonly default?: pulumi.Input<"deny" | "allow">;
	/** What stays reachable under `deny`. Refused where the extension cannot enforce it. */
	readonly egress?: pulumi.Input<pulumi.Input<string>[]>;
}

/** What a sandbox may use of its machine. */
export interface ResourcesArgs {
	/** CPUs; 0.5 is half of one. */
	readonly cpu?: pulumi.Input<number>;
	/** Memory, in MiB. */
	readonly memoryMb?: pulumi.Input<number>;
}

/** Who a sandbox is for. */
export interface ConsumerArgs {
	/** A person (`adm`), an agent (`agt`) or an automation (`atm`). */
	readonly actor: pulumi.Input<"adm" | "agt" | "atm">;
	readonly project: pulumi.Input<string>;
}

/** Bounds of the single steps, as durations such as "5m". `customTimeouts` of the resource options fills them too. */
export interface TimeoutsArgs {
	/** Default "5m". */
	readonly create?: pulumi.Input<string>;
	/** Default "5m". */
	readonly update?: pulumi.Input<string>;
	/** Default "5m". */
	readonly delete?: pulumi.Input<string>;
}

/** A profile, written into the program instead of a file. `extension` is plain, all else may be an Input. */
export interface ProfileArgs {
	readonly id?: pulumi.Input<string>;
	readonly version?: pulumi.Input<string>;
	/** Such as "ext.bwrap". */
	readonly extension: string;
	readonly isolation: pulumi.Input<{ readonly level: pulumi.Input<"process" | "container" | "vm" | "microvm"> }>;
	readonly network?: pulumi.Input<NetworkArgs>;
	readonly workspace?: pulumi.Input<{
		readonly mode?: pulumi.Input<"copy" | "empty">;
		readonly access?: pulumi.Input<"rw" | "ro">;
	}>;
	readonly ttl?: pulumi.Input<{
		readonly default?: pulumi.Input<string>;
		readonly max?: pulumi.Input<string>;
		readonly idleReap?: pulumi.Input<string>;
	}>;
	readonly resources?: pulumi.Input<ResourcesArgs>;
	readonly setup?: pulumi.Input<{
		readonly instructions?: pulumi.Input<string>;
		readonly secretRefs?: pulumi.Input<pulumi.Input<string | CredentialRoute>[]>;
	}>;
	readonly placement?: pulumi.Input<{
		readonly prefer?: pulumi.Input<pulumi.Input<string>[]>;
		readonly fallback?: pulumi.Input<pulumi.Input<string>[]>;
	}>;
	readonly reachability?: pulumi.Input<{
		readonly tunnel?: pulumi.Input<"none" | "ssh">;
		readonly identity?: pulumi.Input<string>;
	}>;
	readonly metadata?: pulumi.Input<{
		readonly costClass?: pulumi.Input<string>;
		readonly latencyClass?: pulumi.Input<string>;
	}>;
}

/** What a {@link Sandbox} is made of. */
export interface SandboxArgs {
	/** A profile by name ("bwrap-local"), by a path relative to the program ("./profile.ci.yaml"), or written out. */
	readonly profile: string | ProfileArgs;
	/** What the profile's extension takes, such as `repo` for `ext.bwrap`. */
	readonly inputs?: pulumi.Input<Record<string, pulumi.Input<unknown>>>;
	/** `snapshot` of a {@link Snapshot}: the workspace comes out of it. Another snapshot is another sandbox. */
	readonly restoreFrom?: pulumi.Input<SnapshotMeta>;
	readonly consumer?: pulumi.Input<ConsumerArgs>;
	/** How long it lives once it is ready, such as "4h"; the profile's default without it, never more than its max. Changes in place. */
	readonly ttl?: pulumi.Input<string>;
	/** An id of your own: a-z, 0-9, "-" and "_". Without it one is made of the resource's name. */
	readonly sandboxId?: pulumi.Input<string>;
	/** Narrows the profile's network. */
	readonly network?: pulumi.Input<NetworkArgs>;
	/** Narrows the profile's resources. */
	readonly resources?: pulumi.Input<ResourcesArgs>;
	readonly timeouts?: pulumi.Input<TimeoutsArgs>;
	/** With `sandboxId`: take over the sandbox of that id, if there is one, from whoever holds it. */
	readonly adopt?: pulumi.Input<boolean>;
	/** Once a refresh saw that the lease is over: make it again (default), or keep what is left until destroy. */
	readonly onExpired?: pulumi.Input<"recreate" | "keep">;
	readonly labels?: pulumi.Input<Record<string, pulumi.Input<string>>>;
}
