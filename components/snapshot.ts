import type * as pulumi from "@pulumi/pulumi";
import type { SnapshotMeta } from "../provider/contract/types";
import { ChildResource, type SandboxReference } from "./child-resource";

/** What a snapshot is taken with. */
export interface SnapshotArgs {
	/** Another value takes another one. Nothing else does, not even another sandbox. */
	readonly triggers?: pulumi.Input<pulumi.Input<string | number | boolean>[]>;
	/** How long the archive is kept, such as "30d". Default: until somebody removes it. */
	readonly keep?: pulumi.Input<string>;
	readonly labels?: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>;
	/** An id of your own: a-z, 0-9, "-" and "_". Without it one is made of the resource's name. */
	readonly snapshotId?: pulumi.Input<string>;
	/** How long it may take. Default "30m". */
	readonly timeout?: pulumi.Input<string>;
}

/**
 * The workspace of a sandbox, kept in an archive, taken once, when the resource is made; again when `triggers`
 * change. The archive outlives resource and sandbox: `keep` says how long.
 *
 * @example
 * ```ts
 * const kept = new Snapshot("kept", { sandbox: box, keep: "30d", triggers: [version] });
 * new Sandbox("again", { profile: "bwrap-local", restoreFrom: kept.snapshot });
 * ```
 */
export class Snapshot extends ChildResource {
	declare readonly snapshotId: pulumi.Output<string>;
	/** What it is and where its `archive` is: what `restoreFrom` of a sandbox takes. Nothing secret. */
	declare readonly snapshot: pulumi.Output<SnapshotMeta>;

	constructor(
		name: string,
		args: SnapshotArgs & { readonly sandbox: SandboxReference },
		opts: pulumi.CustomResourceOptions = {},
	) {
		super({ type: "Snapshot", results: ["snapshot", "snapshotId"] }, name, args, opts);
	}
}
