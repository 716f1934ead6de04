import { SandboxerError } from "../errors";
import { NotReady } from "../lifecycle";

/**
 * An error as the SDK takes it: it sends `error.message` to the engine, which shows it with the resource,
 * and prints `${error}: ${error.stack}` on top, which the engine shows with the stack: told once is enough.
 */
class Failure extends Error {
	constructor(message: string) {
		super(message);
		this.stack = "the error above is told with its resource";
	}

	override toString(): string {
		return "pulumi-sandboxer";
	}
}

/** With these three fields the engine records the resource as made but not initialised. */
class NotInitialised extends Failure {
	constructor(
		message: string,
		readonly id: string,
		readonly properties: unknown,
		readonly reasons: readonly string[],
	) {
		super(message);
	}
}

/**
 * Whatever was thrown, as the engine shall have it. The first error stays first.
 *
 * @param stateOf - Outputs as the state shall hold them.
 */
export function failure(thrown: unknown, stateOf: (outputs: object) => object): Error {
	if (thrown instanceof NotReady) {
		const { text } = thrown.cause;
		return new NotInitialised(text, thrown.outputs.sandboxId, stateOf(thrown.outputs), [text]);
	}
	const error = SandboxerError.from(thrown);
	return new Failure(error.code === "internal" ? internal(error) : error.text);
}

function internal(error: SandboxerError): string {
	const { cause } = error;
	const where =
		cause instanceof Error
			? (cause.stack ?? "")
					.split("\n")
					.find((line) => line.includes(" at "))
					?.trim()
			: undefined;
	return `pulumi-sandboxer failed unexpectedly: ${error.message}${where === undefined ? "" : ` (${where})`}. Please report it.`;
}
