import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, cpSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Sandboxes } from "./sandboxes.mjs";

/**
 * bwrap alone, as a sandbox has it: the same namespaces, mounts, filter and first process, with none of what
 * stands around them (supervisor, user id of its own, control groups, limits, record, probes).
 *
 * @typedef {object} BareStart
 * @property {readonly string[]} command
 * @property {Readonly<Record<string, string>>} files what the command reads, by the descriptor that it reads it from
 * @property {number} info the descriptor that it reports to
 * @property {number} ready the descriptor on which its first process says "ready"
 */

/**
 * Takes the command line from a running sandbox, and the files it binds from its folder, so that both sides
 * always mount and unshare the same. The sandbox is made for this and removed again.
 *
 * @param {import("../harness/workbench.mjs").Workbench} workbench
 * @returns {Promise<BareStart>}
 */
export async function bareStart(workbench) {
	const sandboxes = new Sandboxes(workbench, "pattern");
	const handle = await sandboxes.create("pattern");
	const pattern = sandboxes.directory("pattern");
	const directory = workbench.makeFolder("bare");
	cpSync(join(pattern, "control"), join(directory, "control"), { recursive: true });
	mkdirSync(join(directory, "workspace"), { recursive: true });
	const { init } = JSON.parse(readFileSync(join(pattern, "record.json"), "utf8"));
	const command = commandLine(parentOf(init.pid));
	const { seccompFilter } = workbench.load("./extensions/bwrap/seccomp/filter");
	const files = {};
	const keep = (descriptor, content) => {
		files[descriptor] = join(directory, descriptor);
		writeFileSync(files[descriptor], content);
	};
	keep(command[command.indexOf("--seccomp") + 1], seccompFilter(process.arch));
	for (const [index, word] of command.entries())
		if (word === "--file") keep(command[index + 1], readFileSync(`/proc/${init.pid}/root${command[index + 2]}`));
	await sandboxes.remove(handle);
	return {
		command: command.map((word) => word.replace(`${pattern}/`, `${directory}/`)),
		files,
		info: Number(command[command.indexOf("--info-fd") + 1]),
		ready: Number(/echo ready >&(\d+)/.exec(command.at(-1))?.[1]),
	};
}

/** bwrap itself: its child is the first process of the sandbox. */
function parentOf(pid) {
	return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/** Without `--args N`: it is there for descriptors that this process inherited, and is not the same from run to run. */
function commandLine(pid) {
	const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
	return words.filter((word, index) => word !== "--args" && words[index - 1] !== "--args");
}

/**
 * Starts it, waits until it is ready, and ends it.
 *
 * @param {BareStart} bare
 * @returns {Promise<number>} milliseconds from the spawn until "ready" is read
 */
export async function timeBareStart({ command: [program, ...args], files, info, ready }) {
	const start = performance.now();
	const stdio = [];
	for (const [descriptor, file] of Object.entries(files)) stdio[descriptor] = openSync(file, "r");
	stdio[info] = openSync("/dev/null", "w");
	const opened = stdio.filter((descriptor) => descriptor !== undefined);
	stdio[ready] = "pipe";
	const child = spawn(program, args, {
		stdio: Array.from(stdio, (descriptor) => descriptor ?? "ignore"),
		env: { PATH: process.env.PATH },
		cwd: "/",
	});
	for (const descriptor of opened) closeSync(descriptor);
	const ended = once(child, "exit");
	const [said] = await Promise.race([once(child.stdio[ready], "data"), ended.then(() => [])]);
	const elapsed = performance.now() - start;
	if (String(said) !== "ready\n") throw new Error(`bwrap alone did not start: ${program} ${args.join(" ")}`);
	child.kill("SIGKILL");
	await ended;
	return elapsed;
}
