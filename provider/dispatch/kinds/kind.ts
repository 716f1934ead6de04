import type { Problem } from "../../contract";
import type { Backend, Difference } from "../../lifecycle";
import type { StateLayout } from "../state-layout";

/** Inputs or outputs of a resource, without the provider's own text. */
export type Properties = Record<string, unknown>;

/**
 * One kind of resource: what the engine's calls mean for it. Properties come as the engine has them; what is
 * returned goes into the state.
 */
export interface Kind {
	readonly layout: StateLayout;
	/** The extension that a resource with these properties belongs to. */
	extensionOf(properties: Properties): string;
	check(
		backend: Backend,
		olds: Properties,
		news: Properties,
	): { readonly inputs: Properties; readonly problems: readonly Problem[] };
	diff(backend: Backend, olds: Properties, news: Properties): Difference;
	create(backend: Backend, inputs: Properties): Promise<{ readonly id: string; readonly outputs: object }>;
	/** `undefined` where it is proved gone. */
	read(
		backend: Backend,
		id: string,
		properties: Properties,
	): Promise<{ readonly outputs: object; readonly inputs: object } | undefined>;
	update(backend: Backend, olds: Properties, news: Properties): Promise<object>;
	delete(backend: Backend, id: string, properties: Properties): Promise<void>;
}
