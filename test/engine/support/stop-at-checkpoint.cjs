// Loaded into every Node process of a run by NODE_OPTIONS. At the checkpoint named by STOP_AT the provider
// is held until STOP_FILE.go appears; with STOP_HOW=throw it throws instead what a wait that ran out throws.
// STOP_FILE says that, and in which process, it came there. While it is held, STOP_FILE.alone says that the
// engine is gone, STOP_FILE.interrupted that SIGINT came.
const { existsSync, writeFileSync, renameSync } = require("node:fs");
const { connect } = require("node:http2");
const { createRequire } = require("node:module");

const { STOP_AT, STOP_FILE, STOP_HOW = "hold" } = process.env;
const HOOK = Symbol.for("pulumi-sandboxer.checkpoint");
let stopped = false;

if (STOP_AT !== undefined && STOP_FILE !== undefined) {
	globalThis[HOOK] = async (name) => {
		if (name !== STOP_AT || stopped || existsSync(STOP_FILE)) return;
		stopped = true;
		if (STOP_HOW === "throw") {
			tell(STOP_FILE);
			throw ranOut(name);
		}
		const link = connect(`http://${process.argv[2]}`).on("error", () => undefined);
		link.once("close", () => tell(`${STOP_FILE}.alone`)).unref();
		process.once("SIGINT", () => tell(`${STOP_FILE}.interrupted`));
		tell(STOP_FILE);
		while (!existsSync(`${STOP_FILE}.go`)) await new Promise((resolve) => setTimeout(resolve, 10));
	};
}

/** Whole at once, for whoever waits for it. */
function tell(file) {
	writeFileSync(`${file}.new`, String(process.pid));
	renameSync(`${file}.new`, file);
}

function ranOut(name) {
	const { SandboxerError } = createRequire(`${process.cwd()}/x.js`)("pulumi-sandboxer/extension");
	return new SandboxerError({
		code: "timeout",
		message: `The test let ${name} run out.`,
		hint: "Run pulumi up again.",
	});
}
