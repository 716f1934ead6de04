import type * as pulumi from "@pulumi/pulumi";
import { shim } from "../shim";

/** The SDK serialises each provider object once: one object a name, however many resources. */
const providers = new Map<string, pulumi.dynamic.ResourceProvider>();

/** @param name - An extension's id, or a child's kind. */
export function providerOf(name: string): pulumi.dynamic.ResourceProvider {
	let provider = providers.get(name);
	if (provider === undefined) {
		// Until it is configured all its methods throw: their types are those of the code that it loads.
		provider = shim(name) as unknown as pulumi.dynamic.ResourceProvider;
		providers.set(name, provider);
	}
	return provider;
}

/** Options that every resource of ours has: nobody wants to see a change of the provider's own text. */
export function withDefaults(
	opts: pulumi.CustomResourceOptions,
	secretOutputs: readonly string[] = [],
): pulumi.CustomResourceOptions {
	return {
		...opts,
		additionalSecretOutputs: [...(opts.additionalSecretOutputs ?? []), ...secretOutputs],
		hideDiffs: [...(opts.hideDiffs ?? []), "__provider"],
	};
}

/**
 * The properties of a resource: what is given, and its results, not known yet. For each property the SDK makes four
 * promises, and a stack trace for each of them: what is absent is none.
 */
export function propertiesOf(results: readonly string[], args: object): Record<string, unknown> {
	return {
		...Object.fromEntries(results.map((key) => [key, undefined])),
		...Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)),
	};
}
