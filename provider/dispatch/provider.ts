import { SandboxerError } from "../errors";
import {
	type Backend,
	check,
	create,
	diff,
	read,
	remove,
	type SandboxInputs,
	type SandboxOutputs,
	update,
} from "../lifecycle";
import { loadExtension } from "./extension-loading";
import { failure } from "./failure";
import { plainJson } from "./plain-json";
import { RunOfEngine } from "./run-of-engine";

/** The key under which the SDK keeps the serialised shim among inputs and outputs. */
const SHIM = "__provider";

type Properties = Record<string, unknown>;

/** What the SDK gives to `configure`. */
interface ConfigureRequest {
	readonly config: { get(key: string): string | undefined };
}

let runOfEngine: RunOfEngine | undefined;

/**
 * The methods of a sandbox resource's provider, for the shim. One call a provider text and process.
 *
 * @param id - The extension's id, such as `ext.bwrap`.
 */
export function provider(id: string, request: ConfigureRequest) {
	runOfEngine ??= new RunOfEngine(process.argv[2]);
	const run = runOfEngine;
	// Loaded when first used, so that its error reaches the resource it concerns.
	const extension = lazily(() => loadExtension(id, request.config));

	function backend(urn: string | undefined): Backend {
		const say = (severity: "INFO" | "WARNING", ephemeral: boolean) => (message: string) => {
			if (urn !== undefined) run.say(severity, urn, message, ephemeral);
		};
		return {
			extension: extension(),
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
				return await method(backend(urn));
			} catch (thrown) {
				throw failure(thrown, shimOf(properties));
			}
		});
	}

	return {
		check: (olds: Properties, news: Properties) =>
			guarded(news, ({ extension: loaded, info, progress }) => {
				const { inputs, problems, notes, plan } = check(loaded, withoutShim(olds), withoutShim(news));
				if (plan !== "") progress(plan);
				for (const note of notes) info(note);
				return {
					inputs,
					failures: problems.map(({ field, reason }) => ({ property: field, reason: `${field} ${reason}` })),
				};
			}),

		diff: (_id: string, olds: Properties, news: Properties) =>
			guarded(news, ({ extension: loaded }) => {
				const difference = diff(loaded, withoutShim(olds), withoutShim(news) as unknown as SandboxInputs);
				return {
					...difference,
					replaces: [...difference.replaces],
					changes: difference.changes || olds[SHIM] !== news[SHIM],
				};
			}),

		create: (inputs: Properties) =>
			guarded(inputs, async (given) => {
				const outputs = await create(given, withoutShim(inputs) as unknown as SandboxInputs);
				given.info(`ready until ${outputs.lease?.expiresAt}`);
				return { id: outputs.sandboxId, outs: plainJson(outputs) as Properties };
			}),

		read: (id: string, properties: Properties) =>
			guarded(properties, async (given) => {
				const seen = await read(given, id, withoutShim(properties));
				if (seen === undefined) return {};
				return { id, props: plainJson(seen.outputs) as Properties, inputs: plainJson(seen.inputs) as Properties };
			}),

		update: (_id: string, olds: Properties, news: Properties) =>
			guarded(news, async (given) => ({
				outs: plainJson(
					await update(
						given,
						withoutShim(olds) as unknown as SandboxOutputs,
						withoutShim(news) as unknown as SandboxInputs,
					),
				) as Properties,
			})),

		delete: (_id: string, properties: Properties) =>
			guarded(properties, (given) => remove(given, withoutShim(properties) as unknown as SandboxOutputs)),
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

function lazily<T>(make: () => T): () => T {
	let made: { value: T } | undefined;
	return () => {
		made ??= { value: make() };
		return made.value;
	};
}
