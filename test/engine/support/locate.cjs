// Asks the built package for all sandboxes of ext.bwrap, as an inventory would; prints them as JSON.
const { join, resolve } = require("node:path");

const dist = resolve(__dirname, "../../../dist");
const { findExtension, loadHandler, searchFrom } = require(join(dist, "provider/registry"));

const search = searchFrom({ cwd: process.cwd() });
const declaration = findExtension("ext.bwrap", search);
const extension = loadHandler(declaration, {
	declaration,
	config: declaration.config ?? {},
	environment: (name) => process.env[name],
	now: Date.now,
});
const call = { signal: new AbortController().signal, timeoutSeconds: 60, progress: () => undefined };
extension.locate({}, call).then((located) => process.stdout.write(JSON.stringify(located)));
