export { type CheckedOptions, checkedOptions, WORKSPACE } from "./checked-options";
export { CommandOutput, MaskedOutput } from "./command-output";
export { refusalOfVariable } from "./environment";
export { OutputCollector } from "./output-collector";
export type { Command, CommandEnd, ExecuteOptions, ExecutionResult, OutputExcerpt } from "./types";
