export { errnoOf } from "./errno";
export {
	type ErrorCode,
	type ErrorDetails,
	hasCode,
	SandboxerError,
	type SandboxerErrorOptions,
} from "./sandboxer-error";
