export { findProgram } from "./local/find-program";
export { PipeReader } from "./local/pipe-reader";
export { makePipes, type Pipe } from "./local/pipes";
export { type RunOptions, type RunResult, run } from "./local/run";
export { shellWord } from "./local/shell-word";
export { type ChildDescriptors, type CleanSpawnOptions, spawnClean, strayDescriptors } from "./local/spawn-clean";
export { UnnamedFile } from "./local/unnamed-file";
