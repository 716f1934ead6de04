import * as pulumi from "@pulumi/pulumi";
import { holdsEventual } from "../documents/eventual";
import { shim } from "../shim";
import { PausedStackTraces } from "./stack-traces";

/** What a class of resources says of itself. */
export interface ResourceKind {
	/** What serves it: an extension's id, or a child's kind. */
	readonly provider: string;
	/** In its type token: `pulumi-nodejs:dynamic/sandboxer:TYPE`. */
	readonly type: string;
	/** Outputs that are not among the inputs. */
	readonly results: readonly string[];
	readonly secrets?: readonly string[];
}

/** A dynamic resource that the shim serves: the SDK's own class differs in nothing but who writes the shim's text. */
export abstract class OwnResource extends pulumi.CustomResource {
	constructor(
		{ provider, type, results, secrets = [] }: ResourceKind,
		name: string,
		args: object,
		opts: pulumi.CustomResourceOptions,
	) {
		const traces = new PausedStackTraces();
		try {
			const properties = { ...propertiesOf(results, args), __provider: shim(provider) };
			super(
				resourceToken(type),
				name,
				properties,
				withDefaults(opts, [...secrets, ...(mayHoldSecrets(args) ? [APPLIED] : [])]),
			);
		} catch (thrown) {
			throw traces.retraced(thrown);
		} finally {
			traces.resume();
		}
	}
}

/** The type token of a class, from its own part of it. */
export function resourceToken(type: string): string {
	return `pulumi-nodejs:dynamic/sandboxer:${type}`;
}

/** The output that holds the inputs again, see provider/dispatch/state-layout.ts. */
const APPLIED = "applied";

/** The owner is made here, of names. What else becomes known later may be secret; the engine does not say so to the provider. */
function mayHoldSecrets({ owner: _owner, ...given }: { readonly owner?: unknown }): boolean {
	return holdsEventual(given);
}

/** Nobody wants to see a change of the provider's own text, nor of the inputs a second time. */
function withDefaults(
	opts: pulumi.CustomResourceOptions,
	secretOutputs: readonly string[],
): pulumi.CustomResourceOptions {
	return {
		...opts,
		additionalSecretOutputs: [...(opts.additionalSecretOutputs ?? []), ...secretOutputs],
		hideDiffs: [...(opts.hideDiffs ?? []), "__provider", APPLIED],
	};
}

/** What is given, and the results, not known yet. What is absent is no property: each has its cost in the SDK. */
function propertiesOf(results: readonly string[], args: object): Record<string, unknown> {
	return {
		...Object.fromEntries(results.map((key) => [key, undefined])),
		...Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)),
	};
}
