import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { medianOf, ratioOfPairs } from "../harness/figure.mjs";
import { Project } from "../harness/project.mjs";
import { progress } from "../harness/report.mjs";
import { bareStart } from "./bare-start.mjs";
import { Sandboxes, TTL_SECONDS } from "./sandboxes.mjs";

const FEW = 40;
const MANY = 160;

const EMPTY = 'require("@pulumi/pulumi");\n';

const SANDBOXES = `
const { Sandbox } = require("pulumi-sandboxer");
for (let index = 0; index < Number(process.env.BENCH_COUNT); index++)
	new Sandbox(\`box-\${index}\`, { profile: "bwrap-local", ttl: "${TTL_SECONDS}s" });
`;

/**
 * What somebody writes by hand: a dynamic resource that starts the same bwrap from a script, waits until it is
 * ready and leaves it running. The script is bwrap's parent, so that its end ends all.
 */
const BARE = `
const pulumi = require("@pulumi/pulumi");

const provider = {
	async create() {
		const { spawn } = require("node:child_process");
		const { once } = require("node:events");
		const { closeSync, openSync, readFileSync } = require("node:fs");
		const bare = JSON.parse(readFileSync("bare.json", "utf8"));
		const { filter, info, ready } = bare.descriptors;
		const opened = [openSync(bare.filter, "r"), openSync("/dev/null", "w")];
		const stdio = Array.from({ length: 1 + Math.max(filter, info, ready) }, () => "ignore");
		[stdio[filter], stdio[info]] = opened;
		stdio[ready] = "pipe";
		const script = '"$@"; exit';
		const child = spawn("sh", ["-c", script, "bare", ...bare.command], { stdio, detached: true, cwd: "/", env: { PATH: process.env.PATH } });
		for (const descriptor of opened) closeSync(descriptor);
		const pipe = child.stdio[ready];
		const [said] = await Promise.race([once(pipe, "data"), once(child, "exit").then(() => [])]);
		if (String(said) !== "ready\\n") throw new Error("bwrap did not start");
		pipe.destroy();
		child.unref();
		return { id: String(child.pid), outs: { pid: child.pid } };
	},
	async delete(_id, { pid }) {
		process.kill(-pid, "SIGKILL");
	},
};

class Bare extends pulumi.dynamic.Resource {
	constructor(name, opts) {
		super(provider, name, { pid: undefined }, opts);
	}
}

class Box extends pulumi.ComponentResource {
	constructor(name) {
		super("bench:index:Box", name);
		const { pid } = new Bare(name, { parent: this });
		this.registerOutputs({ pid });
	}
}

for (let index = 0; index < Number(process.env.BENCH_COUNT); index++) new BARE_CLASS(\`box-\${index}\`);
`;

/**
 * Whole runs of \`pulumi up\`: of nothing, of sandboxes, and of what one would write by hand. Every round runs all
 * of them, one round forwards, the next backwards; a ratio is of two runs of one round.
 *
 * @param {import("../harness/workbench.mjs").Workbench} workbench
 * @param {import("../harness/counts.mjs").Counts} counts
 */
export async function upTime(workbench, { rounds }) {
	const bare = await bareStart(workbench);
	const sandboxes = new Sandboxes(workbench, "up-sandboxes");
	const ofSandboxes = await Project.make(workbench, "up-of-sandboxes", {
		program: SANDBOXES,
		env: { SANDBOXER_STATE_DIR: sandboxes.folder },
	});
	const byHand = async (name, className) => {
		const project = await Project.make(workbench, name, { program: BARE.replace("BARE_CLASS", className) });
		writeFileSync(join(project.folder, "bare.json"), JSON.stringify(bare));
		return project;
	};
	const runs = {
		empty: { project: await Project.make(workbench, "up-of-nothing", { program: EMPTY }), count: 0, times: [] },
		sandboxes: { project: ofSandboxes, count: FEW, times: [] },
		components: { project: await byHand("up-of-components", "Box"), count: FEW, times: [] },
		resources: { project: await byHand("up-of-resources", "Bare"), count: FEW, times: [] },
		many: { project: ofSandboxes, count: MANY, times: [] },
	};
	for (const { project } of Object.values(runs)) await upAndDestroy(project, 1);
	for (let round = 0; round < rounds; round++) {
		const inTurn = round % 2 === 0 ? Object.entries(runs) : Object.entries(runs).toReversed();
		for (const [name, { project, count, times }] of inTurn) {
			const seconds = await upAndDestroy(project, count);
			times.push(seconds);
			progress(`up-time: round ${round + 1} of ${rounds}, ${name}: ${seconds.toFixed(2)} s`);
		}
	}
	const { empty, components, resources, many } = runs;
	const each = ({ times, count }) => times.map((seconds, round) => (seconds - empty.times[round]) / count);
	return [
		ratioOfPairs(`up of ${FEW} sandboxes ÷ up of ${FEW} bare components`, runs.sandboxes.times, components.times, 1.25),
		ratioOfPairs(
			`up of ${FEW} sandboxes ÷ up of ${FEW} bare dynamic resources without components`,
			runs.sandboxes.times,
			resources.times,
			null,
		),
		ratioOfPairs(
			`up time a sandbox, net of an empty program, at ${MANY} ÷ at ${FEW}`,
			each(many),
			each(runs.sandboxes),
			1.5,
		),
		medianOf(`up of an empty program, median s`, empty.times),
		medianOf(`up of ${FEW} sandboxes, median s`, runs.sandboxes.times),
		medianOf(`up of ${FEW} bare components, median s`, components.times),
		medianOf(`up of ${FEW} bare dynamic resources, median s`, resources.times),
		medianOf(`up of ${MANY} sandboxes, median s`, many.times),
	];
}

async function upAndDestroy(project, count) {
	const seconds = await project.up(count);
	await project.destroy();
	return seconds;
}
