import type { Json, SandboxExtension } from "../contract";
import { SandboxerError } from "../errors";
import type { Backend } from "../lifecycle";
import { openExtension } from "../registry";
import { failure } from "./failure";
import { type Kind, kindOf, type Properties } from "./kinds";
import { plainJson } from "./plain-json";
import { RunOfEngine } from "./run-of-engine";
import { packed, unpacked } from "./state-layout";

/** The key under which the SDK keeps the serialised shim among inputs and outputs. */
const SHIM = "__provider";

/** What the SDK gives to `configure`. */
interface ConfigureRequest {
	readonly config: { get(key: string): string | undefined };
}

let runOfEngine: RunOfEngine | undefined;

/**
 * The methods of a resource's provider, for the shim. One call a provider text and process.
 *
 * @param name - What the text names: an extension's id, such as `ext.bwrap`, or a child's kind.
 */
export function provider(name: string, request: ConfigureRequest) {
	runOfEngine ??= new RunOfEngine(process.argv[2]);
	const run = runOfEngine;
	const kind = once((): Kind => kindOf(name));
	// Loaded when first used, so that its error reaches the resource it concerns.
	const extension = oncePer((id): SandboxExtension => openExtension(id, request.config));

	function backend(properties: Properties, urn: string | undefined): Backend {
		const say = (severity: "INFO" | "WARNING", ephemeral: boolean) => (message: string) => {
			if (urn !== undefined) run.say(severity, urn, message, ephemeral);
		};
		return {
			get extension() {
				return extension(kind().extensionOf(properties));
			},
			signal: run.signal,
			now: Date.now,
			progress: say("INFO", true),
			info: say("INFO", false),
			warn: say("WARNING", false),
		};
	}

	/** Runs a method; what it throws comes out as the engine shall have it. */
	async function guarded<T>(properties: Properties, method: (backend: Backend) => T | Promise<T>): Promise<T> {
		const { urn } = (properties.owner ?? {}) as { urn?: string };
		return run.during(urn, async () => {
			try {
				return await method(backend(properties, urn));
			} catch (thrown) {
				throw failure(thrown, (outputs) => ({ ...stateOf(outputs), ...shimOf(properties) }));
			}
		});
	}

	const stateOf = (outputs: object) => packed(plainJson(outputs) as Record<string, Json>, kind().layout);
	const outputsOf = (state: Properties) => unpacked(state, kind().layout);

	return {
		check: (olds: Properties, news: Properties) =>
			guarded(news, (given) => {
				const { inputs, problems } = kind().check(given, withoutShim(olds), withoutShim(news));
				return {
					inputs,
					failures: problems.map(({ field, reason }) => ({ property: field, reason: `${field} ${reason}` })),
				};
			}),

		diff: (_id: string, olds: Properties, news: Properties) =>
			guarded(news, (given) => {
				const difference = kind().diff(given, outputsOf(withoutShim(olds)), withoutShim(news));
				return {
					...difference,
					replaces: [...difference.replaces],
					changes: difference.changes || olds[SHIM] !== news[SHIM],
				};
			}),

		create: (inputs: Properties) =>
			guarded(inputs, async (given) => {
				const { id, outputs } = await kind().create(given, withoutShim(inputs));
				return { id, outs: stateOf(outputs) };
			}),

		read: (id: string, state: Properties) => {
			const properties = outputsOf(state);
			return guarded(properties, async (given) => {
				const seen = await kind().read(given, id, withoutShim(properties));
				if (seen === undefined) return {};
				return { id, props: stateOf(seen.outputs), inputs: plainJson(seen.inputs) as Properties };
			});
		},

		update: (_id: string, olds: Properties, news: Properties) =>
			guarded(news, async (given) => ({
				outs: stateOf(await kind().update(given, outputsOf(withoutShim(olds)), withoutShim(news))),
			})),

		delete: (id: string, state: Properties) => {
			const properties = outputsOf(state);
			return guarded(properties, (given) => kind().delete(given, id, withoutShim(properties)));
		},
	};
}

function withoutShim({ [SHIM]: _shim, ...properties }: Properties): Properties {
	return properties;
}

function shimOf(properties: Properties): Properties {
	const shim = properties[SHIM];
	if (shim === undefined) throw new SandboxerError({ code: "internal", message: "The engine sent no provider text." });
	return { [SHIM]: shim };
}

function once<T>(make: () => T): () => T {
	const made = oncePer(make);
	return () => made("");
}

function oncePer<T>(make: (key: string) => T): (key: string) => T {
	const made = new Map<string, T>();
	return (key) => {
		let value = made.get(key);
		if (value === undefined) {
			value = make(key);
			made.set(key, value);
		}
		return value;
	};
}
