/**
 * For each of the four promises that it makes of a property, the SDK keeps a stack trace, to name one that is never
 * resolved: a fifth of what a program spends on a sandbox. The trace in the state is taken apart from this limit.
 */
export class PausedStackTraces {
	readonly #limit = Error.stackTraceLimit;

	constructor() {
		Error.stackTraceLimit = 0;
	}

	resume(): void {
		Error.stackTraceLimit = this.#limit;
	}

	/** What was thrown meanwhile, saying where it stands. */
	retraced(thrown: unknown): unknown {
		this.resume();
		if (thrown instanceof Error) Error.captureStackTrace(thrown);
		return thrown;
	}
}
