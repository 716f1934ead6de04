import { SandboxerError } from "../../provider/errors";

/** The error of something that must be refused as invalid. */
export function refusalOf(attempt: () => unknown): SandboxerError {
	try {
		attempt();
	} catch (thrown) {
		if (thrown instanceof SandboxerError && thrown.code === "invalid") return thrown;
		throw thrown;
	}
	throw new Error("It was not refused.");
}
