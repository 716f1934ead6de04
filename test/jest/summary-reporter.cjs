const { writeSync } = require("node:fs");

/**
 * Prints, as the last line of the run, how many tests really ran: `N passed, N failed`. A suite that could
 * not be loaded, or failed outside its tests, counts as one failed; a run without any test fails.
 */
module.exports = class SummaryReporter {
	#tests = 0;

	constructor({ watch, watchAll }) {
		this.watching = watch || watchAll;
	}

	onRunComplete(_contexts, results) {
		const passed = results.numPassedTests;
		const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
		const skipped = results.numPendingTests + results.numTodoTests;
		this.#tests = passed + failed;
		const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`;
		// Jest's own last words come after this method, and --forceExit closes process.stdout before "exit".
		const print = () => writeSync(1, line);
		if (this.watching) print();
		else process.once("exit", print);
	}

	getLastError() {
		return this.#tests === 0 && !this.watching ? new Error("No test was run.") : undefined;
	}
};
