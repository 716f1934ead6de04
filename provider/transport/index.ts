export { findProgram } from "./local/find-program";
export { type RunOptions, type RunResult, run } from "./local/run";
export { type ChildDescriptors, type CleanSpawnOptions, spawnClean, strayDescriptors } from "./local/spawn-clean";
