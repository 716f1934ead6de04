import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** How long killed processes may take to disappear. */
const END_TIMEOUT_MS = 10_000;

/**
 * Kills the processes that work in a folder or below it, and, on demand, those whose command line names it.
 * The folder is one of this run's own, by a random name: nobody else's process fits.
 *
 * @param {string} folder
 * @param {{ named: boolean }} also
 */
export async function killProcessesOf(folder, { named }) {
	const deadline = performance.now() + END_TIMEOUT_MS;
	for (;;) {
		const found = pids().filter((pid) => worksIn(pid, folder) || (named && names(pid, folder)));
		if (found.length === 0) return;
		if (performance.now() > deadline) throw new Error(`Processes ${found.join(", ")} of ${folder} do not end.`);
		for (const pid of found) kill(pid);
		await pause(10);
	}
}

function pids() {
	return readdirSync("/proc")
		.map(Number)
		.filter((pid) => pid > 1 && pid !== process.pid);
}

function worksIn(pid, folder) {
	try {
		const cwd = readlinkSync(`/proc/${pid}/cwd`);
		return cwd === folder || cwd.startsWith(`${folder}/`);
	} catch {
		return false; // ended meanwhile, or somebody else's
	}
}

function names(pid, folder) {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`${folder}/`);
	} catch {
		return false; // ended meanwhile, or somebody else's
	}
}

function kill(pid) {
	try {
		process.kill(pid, "SIGKILL");
	} catch (thrown) {
		if (thrown.code !== "ESRCH") throw thrown;
	}
}
