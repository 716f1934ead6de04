import type { Json } from "../contract";

type Properties = Record<string, unknown>;

/** The output with the inputs that a resource was made with, as JSON. */
const APPLIED = "applied";

/** How the outputs of a kind stand in a state. */
export interface StateLayout {
	/** Names of the outputs that somebody reads. The others are the inputs that the resource was made with. */
	readonly shown: readonly string[];
	/** Those of them that stand there as JSON, for whoever reads them to parse. */
	readonly texts?: readonly string[];
}

/**
 * Outputs as the state shall hold them. The engine gives `diff`, `update` and `delete` the old outputs and not the old
 * inputs, so these must be among them; but it writes the whole state at every step, and then each property costs it
 * time. So what nobody reads as an output stands in one text, and what has many parts in another.
 */
export function packed(outputs: Readonly<Record<string, Json>>, { shown, texts = [] }: StateLayout): Properties {
	const entries = Object.entries(outputs);
	const applied = Object.fromEntries(entries.filter(([name]) => !shown.includes(name)));
	const read = entries
		.filter(([name]) => shown.includes(name))
		.map(([name, value]): [string, Json] => [name, texts.includes(name) ? JSON.stringify(value) : value]);
	return { ...Object.fromEntries(read), [APPLIED]: JSON.stringify(applied) };
}

/** What was given to {@link packed}. */
export function unpacked({ [APPLIED]: applied, ...shown }: Properties, { texts = [] }: StateLayout): Properties {
	const parsed = texts
		.filter((name) => typeof shown[name] === "string")
		.map((name): [string, Json] => [name, JSON.parse(shown[name] as string) as Json]);
	const inputs = typeof applied === "string" ? (JSON.parse(applied) as Properties) : {};
	return { ...inputs, ...shown, ...Object.fromEntries(parsed) };
}
