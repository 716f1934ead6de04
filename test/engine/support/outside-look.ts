import { createHash } from "node:crypto";
import { globSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { type Identity, isRunning, processesOf } from "./processes";
import type { TestStack } from "./test-stack";

/** What is on the machine of one stack's sandboxes, seen without a line of the package's code. */
export interface OutsideLook {
	/** All that is in the state folder, hidden names too: locks, and folders that are being removed. */
	readonly names: readonly string[];
	/** Ids whose record says ready and whose recorded processes both run. */
	readonly live: readonly string[];
	/** Processes that lead a session and hold a sandbox. */
	readonly supervisors: number;
	/** Pid namespaces: one a sandbox. */
	readonly namespaces: number;
	readonly cgroups: readonly string[];
}

export const NOTHING: OutsideLook = { names: [], live: [], supervisors: 0, namespaces: 0, cgroups: [] };

export function lookOutside(stack: TestStack): OutsideLook {
	const base = join(stack.sandboxes, "bwrap");
	const processes = processesOf(stack.folder);
	const own = namespaceOf("self");
	return {
		names: namesIn(base),
		live: namesIn(base).filter((name) => isLive(join(base, name, "record.json"))),
		supervisors: processes.filter(({ command, leadsSession }) => leadsSession && / supervise /.test(command)).length,
		namespaces: new Set(processes.map(({ pid }) => namespaceOf(pid)).filter((name) => name !== "" && name !== own))
			.size,
		cgroups: cgroupsBelow(base),
	};
}

function namesIn(folder: string): string[] {
	try {
		return readdirSync(folder).sort();
	} catch {
		return [];
	}
}

function isLive(record: string): boolean {
	let text: string;
	try {
		text = readFileSync(record, "utf8");
	} catch {
		return false;
	}
	const { phase, supervisor, init } = JSON.parse(text) as { phase: string; supervisor?: Identity; init?: Identity };
	return phase === "ready" && [supervisor, init].every((identity) => identity !== undefined && isRunning(identity));
}

function namespaceOf(pid: number | "self"): string {
	try {
		return readlinkSync(`/proc/${pid}/ns/pid`);
	} catch {
		return ""; // ended meanwhile
	}
}

/** Control groups named after an id and the folder that the id would have below this base. */
function cgroupsBelow(base: string): string[] {
	return globSync("/sys/fs/cgroup/**/sandboxer-*")
		.filter((folder) => {
			const [, id = "", hash] = /^sandboxer-(.+)-([0-9a-f]{8})$/.exec(basename(folder)) ?? [];
			return hash === createHash("sha256").update(join(base, id)).digest("hex").slice(0, 8);
		})
		.sort();
}
