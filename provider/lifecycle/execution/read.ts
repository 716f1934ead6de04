import { inputsAmong } from "../child-inputs";
import { type ExecutionOutputs, executionInputsSchema } from "./inputs";

/** What a command did stays as it was told: nothing is looked at. */
export function readExecution(outputs: Partial<ExecutionOutputs>): {
	readonly outputs: object;
	readonly inputs: object;
} {
	return { outputs, inputs: inputsAmong(executionInputsSchema, outputs) };
}
