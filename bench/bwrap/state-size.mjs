import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure } from "../harness/figure.mjs";
import { Project } from "../harness/project.mjs";
import { progress } from "../harness/report.mjs";
import { Sandboxes, TTL_SECONDS } from "./sandboxes.mjs";

/** One sandbox with as little as can be said of it, one with everything. */
const PROGRAM = `
const { Sandbox } = require("pulumi-sandboxer");
new Sandbox("plain", { profile: "bwrap-local" });
new Sandbox("full", {
	profile: "bwrap-local",
	inputs: { repo: "./app" },
	consumer: { actor: "agt", project: "storefront" },
	ttl: "${TTL_SECONDS}s",
	sandboxId: "full-of-everything",
	network: { default: "deny" },
	resources: { memoryMb: 1024 },
	timeouts: { create: "2m", update: "2m", delete: "2m" },
	onExpired: "keep",
	labels: { team: "platform", purpose: "code review", ticket: "PLAT-1234" },
});
`;

/**
 * What a sandbox takes in the state, as compact JSON. The passwords of the state are those of a local stack,
 * so the one secret output stands in it encrypted.
 *
 * @param {import("../harness/workbench.mjs").Workbench} workbench
 */
export async function stateSize(workbench) {
	progress("state-size: one up");
	const sandboxes = new Sandboxes(workbench, "state-size-sandboxes");
	const project = await Project.make(workbench, "state-size", {
		program: PROGRAM,
		env: { SANDBOXER_STATE_DIR: sandboxes.folder },
	});
	mkdirSync(join(project.folder, "app"));
	writeFileSync(join(project.folder, "app", "README.md"), "An app.\n");
	await project.up(1);
	const resources = await project.resources();
	await project.destroy();
	const size = (type, name) => bytes(found(resources, type, name));
	const { inputs } = found(resources, "pulumi-nodejs:dynamic/sandboxer:Bwrap", "plain");
	return [
		figure("state of the dynamic resource, bytes", size("pulumi-nodejs:dynamic/sandboxer:Bwrap", "plain"), 8192),
		figure(
			"state of the dynamic resource with every argument given, bytes",
			size("pulumi-nodejs:dynamic/sandboxer:Bwrap", "full"),
			8192,
		),
		figure("state of the component, bytes", size("sandboxer:index:Sandbox", "plain"), 2048),
		figure("__provider in the state, bytes (it stands there twice)", bytes(inputs.__provider), 1400),
	];
}

function found(resources, type, name) {
	const resource = resources.find((candidate) => candidate.type === type && candidate.urn.endsWith(`::${name}`));
	if (resource === undefined) throw new Error(`There is no ${type} "${name}" in the state.`);
	return resource;
}

function bytes(value) {
	return Buffer.byteLength(JSON.stringify(value));
}
