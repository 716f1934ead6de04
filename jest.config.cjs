/** Unit tests run the sources through swc; test/engine and test/package run what `npm run build` made in dist. */
/** @type {import("jest").Config} */
module.exports = {
	rootDir: __dirname,
	testEnvironment: "node",
	testMatch: ["<rootDir>/test/**/*.test.ts"],
	// What a third party's handler imports, in the fixtures.
	moduleNameMapper: { "^pulumi-sandboxer/extension$": "<rootDir>/provider/contract/index.ts" },
	modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/examples/"],
	transform: {
		"^.+\\.ts$": [
			"@swc/jest",
			{ jsc: { target: "es2023", parser: { syntax: "typescript" } }, module: { type: "commonjs" } },
		],
	},
	// The SDK's own closure serialiser breaks under istanbul's rewriting.
	coverageProvider: "v8",
	// A run of the engine takes seconds, several of them a test. No test is about time.
	testTimeout: 300_000,
	maxWorkers: 2,
	testSequencer: "<rootDir>/test/jest/sequencer.cjs",
};
