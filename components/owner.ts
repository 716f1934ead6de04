import * as pulumi from "@pulumi/pulumi";
import type { Owner } from "../provider/contract/types";
import { scope } from "./scope";

/**
 * Whose a resource is: this stack's, by the URN that the engine will give it. A promise, no Output: that one
 * would depend on the parent, a component, and so on all its other children.
 */
export function ownerOf(
	name: string,
	type: string,
	parent: pulumi.Resource | undefined,
): { readonly [key in keyof Owner]: pulumi.Input<string> } {
	const urn = new Promise<string>((resolve) => {
		pulumi.createUrn(name, type, parent).apply(resolve);
	});
	return { scope: scope(), project: pulumi.getProject(), stack: pulumi.getStack(), urn };
}
