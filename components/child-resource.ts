import * as pulumi from "@pulumi/pulumi";
import type { Handle } from "../provider/contract/types";
import { OwnResource, resourceToken } from "../provider/resources/own-resource";
import { ownerOf } from "./owner";

/** A sandbox as its children need it: a {@link Sandbox} is one. */
export interface SandboxReference {
	readonly extension: pulumi.Input<string>;
	readonly handle: pulumi.Input<Handle>;
}

/** What a child's class says of itself. */
export interface ChildKind {
	/** In its type token, such as "Execution"; in lower case the name of what serves it. */
	readonly type: string;
	/** Outputs that are not known before it is made. */
	readonly results: readonly string[];
}

/** A resource that belongs to a sandbox, and is its child unless the options say otherwise. */
export abstract class ChildResource extends OwnResource {
	constructor(
		{ type, results }: ChildKind,
		name: string,
		{ sandbox, ...args }: { readonly sandbox: SandboxReference },
		opts: pulumi.CustomResourceOptions,
	) {
		const parent = opts.parent ?? (pulumi.Resource.isInstance(sandbox) ? sandbox : undefined);
		const { extension, handle } = sandbox;
		const owner = ownerOf(name, resourceToken(type), parent);
		super(
			{ provider: type.toLowerCase(), type, results },
			name,
			{ ...args, extension, handle, owner },
			{ ...opts, ...(parent === undefined ? {} : { parent }) },
		);
	}
}
