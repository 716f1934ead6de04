export { checkExecution } from "./check";
export { diffExecution } from "./diff";
export { type ExecutionInputs, type ExecutionOutputs, executionInputsOf } from "./inputs";
export { removeOutput } from "./remove";
export { runExecution } from "./run";
