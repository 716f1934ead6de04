export type {
	Consumer,
	Control,
	ControlStatus,
	Controls,
	Handle,
	Lease,
	Owner,
	Reachability,
} from "../provider/contract/types";
export type { ExtensionDeclaration } from "../provider/documents/extension";
export type { Profile } from "../provider/documents/profile";
export { type ErrorCode, type ErrorDetails, SandboxerError, type SandboxerErrorOptions } from "../provider/errors";
export * from "./lookups";
export { Sandbox } from "./sandbox";
export type * from "./sandbox-args";
