import { SandboxerError } from "../../provider/errors";

/** The command line is wrong: nothing was done. */
export class UsageError extends SandboxerError {
	constructor(message: string, hint?: string) {
		super({ code: "invalid", message, ...(hint === undefined ? {} : { hint }) });
	}
}
