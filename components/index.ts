export { type OpenSandbox, type OpenSandboxOptions, openSandbox } from "../provider/client";
export type {
	Consumer,
	Control,
	ControlStatus,
	Controls,
	ExecuteOptions,
	ExecutionResult,
	Handle,
	Lease,
	Located,
	Owner,
	Reachability,
	SnapshotMeta,
} from "../provider/contract/types";
export type { ExtensionDeclaration } from "../provider/documents/extension";
export type { Profile } from "../provider/documents/profile";
export { type ErrorCode, type ErrorDetails, SandboxerError, type SandboxerErrorOptions } from "../provider/errors";
export type { SandboxReference } from "./child-resource";
export * from "./execution";
export * from "./lookups";
export { Sandbox } from "./sandbox";
export type * from "./sandbox-args";
export * from "./snapshot";
