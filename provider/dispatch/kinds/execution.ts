import {
	checkExecution,
	diffExecution,
	type ExecutionInputs,
	readExecution,
	removeOutput,
	runExecution,
} from "../../lifecycle";
import type { Kind, Properties } from "./kind";

const asInputs = (properties: Properties) => properties as unknown as ExecutionInputs;

/** Commands that are run once, at create. What they did in their sandbox ends with it. */
export const executions: Kind = {
	layout: { shown: ["exitCode", "stdout", "stderr", "output", "ranAt", "durationMs"] },
	extensionOf: ({ extension }) => String(extension),
	check: (_backend, _olds, news) => checkExecution(news),
	diff: (_backend, olds, news) => diffExecution(olds, asInputs(news)),
	create: (backend, inputs) => runExecution(backend, asInputs(inputs)),
	read: async (_backend, _id, properties) => readExecution(properties),
	update: async (_backend, olds, news) => ({ ...olds, ...news }),
	delete: (_backend, id, properties) => removeOutput(id, asInputs(properties)),
};
