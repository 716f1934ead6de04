// Loaded into every Node process of a run by NODE_OPTIONS: holds the provider at the checkpoint named by
// STOP_AT until STOP_FILE.go appears, and says in STOP_FILE that, and in which process, it is there.
const { existsSync, writeFileSync, renameSync } = require("node:fs");

const { STOP_AT, STOP_FILE } = process.env;
const HOOK = Symbol.for("pulumi-sandboxer.checkpoint");
let stopped = false;

if (STOP_AT !== undefined && STOP_FILE !== undefined) {
	globalThis[HOOK] = async (name) => {
		if (name !== STOP_AT || stopped || existsSync(STOP_FILE)) return;
		stopped = true;
		writeFileSync(`${STOP_FILE}.new`, String(process.pid));
		renameSync(`${STOP_FILE}.new`, STOP_FILE);
		while (!existsSync(`${STOP_FILE}.go`)) await new Promise((resolve) => setTimeout(resolve, 10));
	};
}
