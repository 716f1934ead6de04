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
		const stdio = [];
		for (const [descriptor, file] of Object.entries(bare.files)) stdio[descriptor] = openSync(file, "r");
		stdio[bare.info] = openSync("/dev/null", "w");
		const opened = stdio.filter((descriptor) => descriptor !== undefined);
		stdio[bare.ready] = "pipe";
		const script = '"$@"; exit';
		const child = spawn("sh", ["-c", script, "bare", ...bare.command], {
			stdio: Array.from(stdio, (descriptor) => descriptor ?? "ignore"),
			detached: true,
			cwd: "/",
			env: { PATH: process.env.PATH },
		});
		for (const descriptor of opened) closeSync(descriptor);
		const pipe = child.stdio[bare.ready];
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
 * Whole runs of `pulumi up`: of nothing, of sandboxes, and of what one would write by hand. Every round runs all
 * of them, one round forwards, the next backwards; a ratio is of two runs of one round. What has many sandboxes has
 * rounds of its own, after the others: for a minute or more after it has removed thousands of files, ext4 looks through
 * all of their inodes at each file that it makes (recently_deleted in fs/ext4/ialloc.c).
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
	const ofNothing = await Project.make(workbench, "up-of-nothing", { program: EMPTY });
	const ofComponents = await byHand("up-of-components", "Box");
	const ofResources = await byHand("up-of-resources", "Bare");
	for (const project of [ofNothing, ofSandboxes, ofComponents, ofResources]) await upAndDestroy(project, 1);
	const few = await inRounds(rounds, {
		empty: { project: ofNothing, count: 0 },
		sandboxes: { project: ofSandboxes, count: FEW },
		components: { project: ofComponents, count: FEW },
		resources: { project: ofResources, count: FEW },
	});
	const many = await inRounds(rounds, {
		empty: { project: ofNothing, count: 0 },
		few: { project: ofSandboxes, count: FEW },
		many: { project: ofSandboxes, count: MANY },
	});
	const each = (times, count) => times.map((seconds, round) => (seconds - many.empty[round]) / count);
	return [
		ratioOfPairs(`up of ${FEW} sandboxes ÷ up of ${FEW} bare components`, few.sandboxes, few.components, 1.25),
		ratioOfPairs(
			`up of ${FEW} sandboxes ÷ up of ${FEW} bare dynamic resources without components`,
			few.sandboxes,
			few.resources,
			null,
		),
		ratioOfPairs(
			`up time a sandbox, net of an empty program, at ${MANY} ÷ at ${FEW}`,
			each(many.many, MANY),
			each(many.few, FEW),
			1.5,
		),
		medianOf(`up of an empty program, median s`, few.empty),
		medianOf(`up of ${FEW} sandboxes, median s`, few.sandboxes),
		medianOf(`up of ${FEW} bare components, median s`, few.components),
		medianOf(`up of ${FEW} bare dynamic resources, median s`, few.resources),
		medianOf(`up of ${MANY} sandboxes, median s`, many.many),
	];
}

/**
 * @param {number} rounds
 * @param {Readonly<Record<string, { project: Project, count: number }>>} runs
 * @returns {Promise<Record<string, number[]>>} by run, the seconds of each round
 */
async function inRounds(rounds, runs) {
	const names = Object.keys(runs);
	const times = Object.fromEntries(names.map((name) => [name, []]));
	for (let round = 0; round < rounds; round++) {
		for (const name of round % 2 === 0 ? names : names.toReversed()) {
			const { project, count } = runs[name];
			const seconds = await upAndDestroy(project, count);
			times[name].push(seconds);
			progress(`up-time: round ${round + 1} of ${rounds}, ${name}: ${seconds.toFixed(2)} s`);
		}
	}
	return times;
}

async function upAndDestroy(project, count) {
	const seconds = await project.up(count);
	await project.destroy();
	return seconds;
}
