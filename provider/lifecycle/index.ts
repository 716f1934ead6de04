export type { Backend } from "./backend";
export { type Checked, check } from "./check";
export { create, NotReady } from "./create";
export { type Difference, diff } from "./diff";
export type { SandboxInputs } from "./inputs";
export type { Phase, SandboxOutputs } from "./outputs";
export { read, type Seen } from "./read";
export { remove } from "./remove";
export { update } from "./update";
