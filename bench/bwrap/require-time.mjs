import { execFileSync } from "node:child_process";
import { figure, medianOf, ratioOfPairs } from "../harness/figure.mjs";
import { progress } from "../harness/report.mjs";

/** What the package may load beside Pulumi's SDK and what that loads itself. */
const ALLOWED = ["yaml", "zod"];

/** Prints how long a require takes, and the files that it loaded. */
const PROGRAM = `
const start = performance.now();
require(process.argv[1]);
const milliseconds = performance.now() - start;
console.log(JSON.stringify({ milliseconds, files: Object.keys(require.cache) }));
`;

/**
 * Loading the package over loading Pulumi's SDK, which it loads itself, each in a fresh process; without the
 * start of node.
 *
 * @param {import("../harness/workbench.mjs").Workbench} workbench
 * @param {import("../harness/counts.mjs").Counts} counts
 */
export async function requireTime(workbench, { pairs }) {
	const cwd = workbench.makeFolder("require-time");
	const load = (name) =>
		JSON.parse(
			execFileSync(process.execPath, ["-e", PROGRAM, name], {
				cwd,
				env: { PATH: process.env.PATH },
				encoding: "utf8",
				maxBuffer: 64 * 1024 * 1024,
			}),
		);
	const count = Math.ceil(pairs / 2);
	progress(`require-time: ${count} pairs`);
	const pulumiFiles = new Set(load("@pulumi/pulumi").files);
	const extra = packagesOf(load("pulumi-sandboxer").files.filter((file) => !pulumiFiles.has(file)));
	const ours = [];
	const pulumi = [];
	for (let index = 0; index < count; index++) {
		ours.push(load("pulumi-sandboxer").milliseconds);
		pulumi.push(load("@pulumi/pulumi").milliseconds);
	}
	const unexpected = extra.filter((name) => !ALLOWED.includes(name));
	return [
		ratioOfPairs('require("pulumi-sandboxer") ÷ require("@pulumi/pulumi")', ours, pulumi, 1.3),
		medianOf('require("pulumi-sandboxer"), median ms', ours),
		medianOf('require("@pulumi/pulumi"), median ms', pulumi),
		figure(
			`packages that require("pulumi-sandboxer") loads beyond Pulumi's, other than ${ALLOWED.join(" and ")} (it loads ${extra.join(", ") || "none"})`,
			unexpected.length,
			0,
		),
	];
}

/** The packages of files in node_modules, but for our own. */
function packagesOf(files) {
	const names = files.map((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? file);
	return [...new Set(names)].filter((name) => name !== "pulumi-sandboxer").sort();
}
