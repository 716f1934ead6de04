import { SandboxerError } from "../../provider/errors";

/** A removal that is not complete. */
export function remaining(what: string, remains: readonly string[]): SandboxerError {
	return new SandboxerError({
		code: "remains",
		message: `${what} could not be removed whole; still there: ${remains.join(", ")}.`,
		hint: "Remove what holds it, and run it again.",
		details: { remains },
	});
}
