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

	const stateOf = (outputs: object) => packed(plainJson(outputs) as Record<string, Json>, kind().layout);
	const outputsOf = (state: Properties) => unpacked(withoutShim(state), kind().layout);

	/**
	 * Runs a method; what it throws comes out as the engine shall have it.
	 *
	 * @param properties - Inputs or a state; the method gets them as inputs or outputs.
	 */
	async function guarded<T>(
		properties: Properties,
		method: (backend: Backend, given: Properties) => T | Promise<T>,
	): Promise<T> {
		try {
			const given = outputsOf(properties);
			const { urn } = (given.owner ?? {}) as { urn?: string };
			return await run.during(urn, async () => method(backend(given, urn), given));
		} catch (thrown) {
			throw failure(thrown, (outputs) => ({ ...stateOf(outputs), ...shimOf(properties) }));
		}
	}

	return {
		check: (olds: Properties, news: Properties) =>
			guarded(news, (backend, asked) => {
				const { inputs, problems } = kind().check(backend, withoutShim(olds), asked);
				return {
					inputs,
					failures: problems.map(({ field, reason }) => ({ property: field, reason: `${field} ${reason}` })),
				};
			}),

		diff: (_id: string, olds: Properties, news: Properties) =>
			guarded(news, (backend, inputs) => {
				const difference = kind().diff(backend, outputsOf(olds), inputs);
				return {
					...difference,
					replaces: [...difference.replaces],
					changes: difference.changes || olds[SHIM] !== news[SHIM],
				};
			}),

		create: (inputs: Properties) =>
			guarded(inputs, async (backend, asked) => {
				const { id, outputs } = await kind().create(backend, asked);
				return { id, outs: stateOf(outputs) };
			}),

		read: (id: string, state: Properties) =>
			guarded(state, async (backend, outputs) => {
				const seen = await kind().read(backend, id, outputs);
				if (seen === undefined) return {};
				return { id, props: stateOf(seen.outputs), inputs: plainJson(seen.inputs) as Properties };
			}),

		update: (_id: string, olds: Properties, news: Properties) =>
			guarded(news, async (backend, inputs) => ({
				outs: stateOf(await kind().update(backend, outputsOf(olds), inputs)),
			})),

		delete: (id: string, state: Properties) =>
			guarded(state, (backend, outputs) => kind().delete(backend, id, outputs)),
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
