export { checkSnapshot } from "./check";
export { diffSnapshot } from "./diff";
export type { SnapshotInputs, SnapshotOutputs } from "./inputs";
export { readSnapshot } from "./read";
export { keptUntil, takeSnapshot } from "./take";
