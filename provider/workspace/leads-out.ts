import type { Planned, PlannedDirectory } from "./planned-tree";

/** Links that the kernel follows in one path (`path_resolution(7)`); beyond it nobody gets anywhere. */
const MAX_LINKS = 40;

function parts(target: Buffer): readonly string[] {
	return target
		.toString("latin1")
		.split("/")
		.filter((part) => part !== "" && part !== ".");
}

function isAbsolute(target: Buffer): boolean {
	return target[0] === 0x2f;
}

/** By the words alone, as programs do that clean a path up before they open it. */
function leadsOutByWords(depth: number, target: Buffer): boolean {
	let level = depth;
	for (const part of parts(target)) {
		level += part === ".." ? -1 : 1;
		if (level < 0) return true;
	}
	return false;
}

/** As the kernel walks it in the copy, other links of the tree on the way. What is not there counts as a directory: it may be made later. */
function leadsOutOnDisk(directory: readonly PlannedDirectory[], target: Buffer): boolean {
	const at: (Planned | undefined)[] = [...directory];
	const ahead = [...parts(target)].reverse();
	for (let links = 0, part = ahead.pop(); part !== undefined; part = ahead.pop()) {
		if (part === "..") {
			at.pop();
			if (at.length === 0) return true;
			continue;
		}
		const here = at.at(-1);
		const next = here?.kind === "directory" ? here.entries.get(part) : undefined;
		if (next?.kind !== "link") {
			at.push(next);
			continue;
		}
		links += 1;
		if (links > MAX_LINKS) return false;
		if (isAbsolute(next.target)) return true;
		ahead.push(...[...parts(next.target)].reverse());
	}
	return false;
}

/**
 * Whether a symbolic link of a planned tree leads out of it, by its words or through other links.
 *
 * @param directory - the directories from the tree's root down to the one that the link stands in.
 * @param target - what the link says.
 */
export function leadsOut(directory: readonly PlannedDirectory[], target: Buffer): boolean {
	return leadsOutByItself(directory.length - 1, target) || leadsOutOnDisk(directory, target);
}

/**
 * Whether a symbolic link leads out by its own words, whatever else is in the tree.
 *
 * @param depth - of the directory that it stands in; 0 is the tree's root.
 */
export function leadsOutByItself(depth: number, target: Buffer): boolean {
	return isAbsolute(target) || leadsOutByWords(depth, target);
}
