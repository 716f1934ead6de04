export { findHandle } from "./find-handle";
export { type OpenSandbox, type OpenSandboxOptions, openSandbox } from "./open-sandbox";
