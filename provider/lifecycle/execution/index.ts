export { checkExecution } from "./check";
export { diffExecution } from "./diff";
export type { ExecutionInputs, ExecutionOutputs } from "./inputs";
export { readExecution } from "./read";
export { removeOutput } from "./remove";
export { runExecution } from "./run";
