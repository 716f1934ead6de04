import * as pulumi from "@pulumi/pulumi";
import { shim } from "../shim";

/** The SDK serialises each provider object once: one object a name, however many resources. */
const providers = new Map<string, pulumi.dynamic.ResourceProvider>();

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

/** A resource that the shim serves. */
export abstract class OwnResource extends pulumi.dynamic.Resource {
	constructor(
		{ provider, type, results, secrets = [] }: ResourceKind,
		name: string,
		args: object,
		opts: pulumi.CustomResourceOptions,
	) {
		// For each of the four promises that it makes of a property, the SDK keeps a stack trace, to name one that is never
		// resolved: a fifth of what a program spends on a sandbox. The trace in the state is taken apart from this limit.
		const { stackTraceLimit } = Error;
		Error.stackTraceLimit = 0;
		try {
			super(providerOf(provider), name, propertiesOf(results, args), withDefaults(opts, secrets), "sandboxer", type);
		} catch (thrown) {
			Error.stackTraceLimit = stackTraceLimit;
			if (thrown instanceof Error) Error.captureStackTrace(thrown);
			throw thrown;
		} finally {
			Error.stackTraceLimit = stackTraceLimit;
		}
	}
}

function providerOf(name: string): pulumi.dynamic.ResourceProvider {
	let provider = providers.get(name);
	if (provider === undefined) {
		// Until it is configured all its methods throw: their types are those of the code that it loads.
		provider = shim(name) as unknown as pulumi.dynamic.ResourceProvider;
		providers.set(name, provider);
	}
	return provider;
}

/** Nobody wants to see a change of the provider's own text. */
function withDefaults(
	opts: pulumi.CustomResourceOptions,
	secretOutputs: readonly string[],
): pulumi.CustomResourceOptions {
	return {
		...opts,
		additionalSecretOutputs: [...(opts.additionalSecretOutputs ?? []), ...secretOutputs],
		hideDiffs: [...(opts.hideDiffs ?? []), "__provider"],
	};
}

/** What is given, and the results, not known yet. What is absent is no property: each has its cost in the SDK. */
function propertiesOf(results: readonly string[], args: object): Record<string, unknown> {
	return {
		...Object.fromEntries(results.map((key) => [key, undefined])),
		...Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)),
	};
}
