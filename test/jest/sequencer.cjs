const { default: Sequencer } = require("@jest/test-sequencer");

/** Suites that make whole sandboxes, or run the engine: minutes each, however short the file is. */
const LONG = /[/\\]test[/\\](package|conformance|examples|engine)[/\\]/;

/** The long suites first, so that no worker is left alone with one at the end; otherwise jest's own order. */
module.exports = class extends Sequencer {
	sort(tests) {
		const isLong = ({ path }) => Number(LONG.test(path));
		return [...super.sort(tests)].sort((one, other) => isLong(other) - isLong(one));
	}
};
