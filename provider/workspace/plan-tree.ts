import type { Stats } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { hasErrno, SandboxerError } from "../errors";
import type { HeldDirectory } from "./held-directory";
import { joinBytes } from "./join-bytes";
import type { Lanes } from "./lanes";
import { leadsOut } from "./leads-out";
import type { ListedName } from "./listed-name";
import { pathText, plainPathText } from "./path-text";
import type { Planned, PlannedDirectory } from "./planned-tree";
import { stopIfAborted } from "./stop";

/** Directories within directories; a deeper tree was not made by people. */
const MAX_DEPTH = 256;
/** Names in one message; the rest is counted. */
const MAX_NAMED = 10;

export interface PlanSettings {
	readonly source: string;
	readonly step: string;
	readonly signal: AbortSignal;
	readonly lanes: Lanes;
}

/** Something that cannot be carried, and why. */
interface Fault {
	readonly path: Buffer;
	readonly why: string;
}

function odd(stats: Stats): string {
	if (stats.isFIFO()) return "is a fifo";
	if (stats.isSocket()) return "is a socket";
	return "is a device";
}

class Planner {
	readonly #settings: PlanSettings;
	readonly faults: Fault[] = [];

	constructor(settings: PlanSettings) {
		this.#settings = settings;
	}

	/** Plans one directory: what is listed of it, or all that is in it. */
	async plan(
		held: HeldDirectory,
		path: Buffer,
		depth: number,
		listed: ListedName | undefined,
	): Promise<PlannedDirectory> {
		stopIfAborted(this.#settings.signal, this.#settings.step);
		const planned: PlannedDirectory = { kind: "directory", entries: new Map() };
		if (depth > MAX_DEPTH) {
			this.faults.push({ path, why: `is nested deeper than ${MAX_DEPTH} directories` });
			return planned;
		}
		const names =
			listed === undefined
				? (await readdir(`${held.path}/.`, { encoding: "buffer" })).map((name) => name.toString("latin1"))
				: [...listed.children.keys()];
		await this.#settings.lanes.spread(names, async (name) => {
			if (name === ".git") return;
			const bytes = Buffer.from(name, "latin1");
			const entry = await this.#entry(held, bytes, joinBytes(path, bytes), depth, listed?.children.get(name));
			if (entry !== undefined) planned.entries.set(name, entry);
		});
		return planned;
	}

	/** Undefined for what is not there, or not what was listed. */
	async #entry(
		held: HeldDirectory,
		name: Buffer,
		path: Buffer,
		depth: number,
		listed: ListedName | undefined,
	): Promise<Planned | undefined> {
		const here = held.at(name);
		try {
			const stats = await lstat(here);
			if (stats.isDirectory()) return await this.#inner(held, name, path, depth, listed);
			if (listed?.isListed === false) return undefined;
			if (stats.isFile()) return { kind: "file" };
			if (stats.isSymbolicLink()) return { kind: "link", target: await readlink(here, { encoding: "buffer" }) };
			this.faults.push({ path, why: odd(stats) });
		} catch (thrown) {
			if (hasErrno(thrown, "ENOENT")) return undefined;
			if (!hasErrno(thrown, "EACCES", "EPERM")) throw thrown;
			this.faults.push({ path, why: "cannot be read by this user" });
		}
		return undefined;
	}

	async #inner(
		held: HeldDirectory,
		name: Buffer,
		path: Buffer,
		depth: number,
		listed: ListedName | undefined,
	): Promise<PlannedDirectory | undefined> {
		const inner = await held.enter(name);
		try {
			const planned = await this.plan(inner, path, depth + 1, listed);
			// Git knows no empty directories: here all files of this one are deleted.
			return listed !== undefined && planned.entries.size === 0 ? undefined : planned;
		} finally {
			await inner.close();
		}
	}

	/** Finds the links that lead out, once the whole tree is known. */
	checkLinks(directories: readonly PlannedDirectory[], path: Buffer): void {
		for (const [name, entry] of directories.at(-1)?.entries ?? []) {
			const inner = joinBytes(path, Buffer.from(name, "latin1"));
			if (entry.kind === "directory") this.checkLinks([...directories, entry], inner);
			if (entry.kind === "link" && leadsOut(directories, entry.target)) {
				this.faults.push({
					path: inner,
					why: `is a symbolic link to ${pathText(entry.target)}, which leads out of the tree`,
				});
			}
		}
	}
}

/**
 * Looks at everything that is to be copied, and refuses what cannot be carried, all of it at once.
 *
 * @param listed - what git lists; everything there is where it is undefined. `.git` is left out either way.
 * @throws {@link SandboxerError} `invalid` with every name; `aborted`.
 */
export async function planTree(
	held: HeldDirectory,
	listed: ListedName | undefined,
	settings: PlanSettings,
): Promise<PlannedDirectory> {
	const planner = new Planner(settings);
	const root = await planner.plan(held, Buffer.alloc(0), 0, listed);
	planner.checkLinks([root], Buffer.alloc(0));
	const faults = planner.faults.sort((one, other) => one.path.compare(other.path));
	if (faults.length === 0) return root;
	const named = faults.slice(0, MAX_NAMED).map(({ path, why }) => `${pathText(path)} ${why}`);
	if (faults.length > MAX_NAMED) named.push(`and ${faults.length - MAX_NAMED} more`);
	throw new SandboxerError({
		code: "invalid",
		message: `inputs.repo ${JSON.stringify(settings.source)} cannot be copied whole: ${named.join("; ")}. Nothing was copied.`,
		hint: "Remove them, make links relative and within the tree, or have git ignore them.",
		details: { field: "inputs.repo", value: settings.source, paths: faults.map(({ path }) => plainPathText(path)) },
	});
}
