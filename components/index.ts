export { SandboxerError } from "../provider/errors";
export type { Consumer, Control, Controls, ControlStatus, Handle, Lease, Owner, Reachability } from "../provider/contract/types";
export type { ExtensionDeclaration } from "../provider/documents/extension";
export type { Profile } from "../provider/documents/profile";
export * from "./lookups";
export { Sandbox } from "./sandbox";
export type * from "./sandbox-args";
