import type * as pulumi from "@pulumi/pulumi";
import type { Controls, Handle, Json, Lease, Owner, Reachability } from "../contract/types";
import { OwnResource, resourceToken } from "./own-resource";

/** The inputs of a sandbox resource: the component's args by their own names, and the owner. */
export interface SandboxResourceArgs {
	readonly profile: pulumi.Input<object>;
	readonly network?: pulumi.Input<object> | undefined;
	readonly resources?: pulumi.Input<object> | undefined;
	readonly inputs?: pulumi.Input<object> | undefined;
	readonly restoreFrom?: pulumi.Input<object> | undefined;
	readonly consumer?: pulumi.Input<object> | undefined;
	readonly ttl?: pulumi.Input<string> | undefined;
	readonly sandboxId?: pulumi.Input<string> | undefined;
	readonly timeouts?: pulumi.Input<object> | undefined;
	readonly adopt?: pulumi.Input<boolean> | undefined;
	readonly onExpired?: pulumi.Input<string> | undefined;
	readonly labels?: pulumi.Input<object> | undefined;
	/** The resource option of that name: the engine cannot apply it to a dynamic resource. */
	readonly replaceOnChanges?: readonly string[] | undefined;
	readonly owner: { readonly [key in keyof Owner]: pulumi.Input<string> };
}

/** Outputs that check does not know yet. */
const RESULTS = ["handle", "reachability", "workspaceDir", "lease", "controls", "credentials"] as const;

/** Outputs that check fills in, so that a preview shows them. */
const PLANNED = ["sandboxId", "phase", "route", "quote"] as const;

/**
 * One sandbox of one extension. The class is the same for all of them: type token and provider are made of
 * the extension's id, so that a third party's YAML file is enough for a type of its own.
 */
export class SandboxResource extends OwnResource {
	declare readonly sandboxId: pulumi.Output<string>;
	declare readonly extension: pulumi.Output<string>;
	declare readonly phase: pulumi.Output<string>;
	declare readonly handle: pulumi.Output<Handle>;
	declare readonly reachability: pulumi.Output<Reachability>;
	declare readonly workspaceDir: pulumi.Output<string>;
	declare readonly lease: pulumi.Output<Lease>;
	declare readonly quote: pulumi.Output<Json>;
	declare readonly route: pulumi.Output<Json>;
	/** {@link Controls} as JSON. */
	declare readonly controls: pulumi.Output<string | undefined>;
	declare readonly credentials: pulumi.Output<Record<string, string> | undefined>;

	/** @param args - `undefined` to read an existing sandbox by `opts.id`. */
	constructor(
		extension: string,
		name: string,
		args: SandboxResourceArgs | undefined,
		opts: pulumi.CustomResourceOptions,
	) {
		const results = [...PLANNED, ...RESULTS];
		super(
			{ provider: extension, type: typeName(extension), results, secrets: ["credentials"] },
			name,
			{ ...args, extension },
			opts,
		);
	}
}

/** `ext.compose-ssh` → `ComposeSsh`, of the type `pulumi-nodejs:dynamic/sandboxer:ComposeSsh`. */
export function typeName(extension: string): string {
	return extension
		.replace(/^ext\./, "")
		.split("-")
		.map((word) => word.charAt(0).toUpperCase() + word.slice(1))
		.join("");
}

export function typeToken(extension: string): string {
	return resourceToken(typeName(extension));
}
