export { errnoOf, errnoText, hasErrno, isSystemError } from "./errno";
export {
	type ErrorCode,
	type ErrorDetails,
	hasCode,
	SandboxerError,
	type SandboxerErrorOptions,
} from "./sandboxer-error";
