import {
	check,
	create,
	diff,
	read,
	remove,
	type SandboxInputs,
	type SandboxOutputs,
	SHOWN,
	update,
} from "../../lifecycle";
import type { Kind, Properties } from "./kind";

const asInputs = (properties: Properties) => properties as unknown as SandboxInputs;
const asOutputs = (properties: Properties) => properties as unknown as SandboxOutputs;

/** Sandboxes of one extension. */
export function sandboxes(extension: string): Kind {
	return {
		layout: { shown: SHOWN, texts: ["controls"] },
		extensionOf: () => extension,

		check(backend, olds, news) {
			const { inputs, problems, notes, plan } = check(backend.extension, olds, news);
			if (plan !== "") backend.progress(plan);
			for (const note of notes) backend.info(note);
			return { inputs, problems };
		},

		diff: (backend, olds, news) => diff(backend.extension, olds, asInputs(news)),

		async create(backend, inputs) {
			const outputs = await create(backend, asInputs(inputs));
			backend.info(`ready until ${outputs.lease?.expiresAt}`);
			return { id: outputs.sandboxId, outputs };
		},

		read: (backend, id, properties) => read(backend, id, properties),
		update: (backend, olds, news) => update(backend, asOutputs(olds), asInputs(news)),
		delete: (backend, _id, properties) => remove(backend, asOutputs(properties)),
	};
}
