import { chown, readdir, readlink } from "node:fs/promises";
import { errnoText, SandboxerError } from "../errors";
import { HeldDirectory } from "./held-directory";
import { isInRepository } from "./is-in-repository";
import { Lanes } from "./lanes";
import { listWithGit } from "./list-with-git";
import type { ListedName } from "./listed-name";
import { planTree } from "./plan-tree";
import type { PlannedDirectory } from "./planned-tree";
import { stopIfAborted } from "./stop";
import { TreeWriter } from "./write-tree";

/** Names worked on at once. Node has four threads for files; more only keeps them fed. */
const PARALLEL = 16;

export interface CopyTreeOptions {
	/** Fires when the caller is gone: nothing new is started, what runs is ended, then `aborted` is thrown. */
	readonly signal: AbortSignal;
	/** The git program, by name or path. Default: `git`. Not needed where there is no repository. */
	readonly git?: string;
	/** Whose the copy is to be, the target directory included. Default: the caller's. */
	readonly owner?: { readonly uid: number; readonly gid: number };
}

export interface CopyTreeReport {
	/** Regular files and symbolic links. */
	readonly files: number;
	/** What the regular files hold. */
	readonly bytes: number;
}

async function openSource(source: string): Promise<HeldDirectory> {
	try {
		return await HeldDirectory.open(source, { followLinks: true });
	} catch (cause) {
		if (cause instanceof SandboxerError) throw cause;
		throw new SandboxerError({
			code: "invalid",
			message: `inputs.repo ${JSON.stringify(source)} cannot be opened: ${errnoText(cause)}.`,
			hint: "Give the path of a directory that is there.",
			details: { field: "inputs.repo", value: source },
			cause,
		});
	}
}

async function openTarget(target: string): Promise<HeldDirectory> {
	try {
		return await HeldDirectory.open(target, { followLinks: false });
	} catch (cause) {
		if (cause instanceof SandboxerError) throw cause;
		throw new SandboxerError({
			code: "conflict",
			message: `${JSON.stringify(target)} is not a directory that a copy can go to: ${errnoText(cause)}.`,
			hint: "Make it first, as a real directory.",
			details: { directory: target },
			cause,
		});
	}
}

function isBelow(directory: string, path: string): boolean {
	return directory === "/" || path === directory || path.startsWith(`${directory}/`);
}

/** What is to be copied, all of it looked at. */
async function plan(
	from: HeldDirectory,
	source: string,
	target: string,
	git: string,
	step: string,
	signal: AbortSignal,
): Promise<PlannedDirectory> {
	let listed: ListedName | undefined;
	if (await isInRepository(from)) {
		listed = await listWithGit(from, source, { git, step, signal });
	} else if (isBelow(await readlink(from.path), target)) {
		throw new SandboxerError({
			code: "invalid",
			message: `inputs.repo ${JSON.stringify(source)} holds the sandbox's own directory ${JSON.stringify(target)}, and would be copied into itself.`,
			hint: "Give a smaller directory, or a base_dir outside of it.",
			details: { field: "inputs.repo", value: source },
		});
	}
	const planned = await planTree(from, listed, { source, step, signal, lanes: new Lanes(PARALLEL) });
	if (
		listed !== undefined &&
		planned.entries.size === 0 &&
		(await readdir(`${from.path}/.`)).some((name) => name !== ".git")
	) {
		throw new SandboxerError({
			code: "invalid",
			message: `inputs.repo ${JSON.stringify(source)} is not empty, but git lists nothing in it: all of it is ignored or deleted.`,
			hint: "See git status --ignored there.",
			details: { field: "inputs.repo", value: source },
		});
	}
	return planned;
}

/**
 * Copies a local tree into an empty directory, as git lists it: what is tracked and not deleted, and what
 * is untracked and not ignored (by `.gitignore` and the repository's own settings, not by the person's),
 * with checked-out submodules and other repositories in it. Where there is no git repository: everything,
 * empty directories too. `.git` never travels, at any depth.
 *
 * All of it is looked at before anything is written. Files keep rwx bits and mtime, links their target;
 * hard links become files of their own; ACLs and extended attributes stay behind. Nothing in the repository
 * is run, no link is followed, and a directory that is swapped for a link meanwhile leads nowhere. After a
 * failure the target is left as it is, for the caller to remove.
 *
 * @param source - a directory, or a link to one; the caller's own relative paths are fine.
 * @param target - an existing, empty, real directory.
 * @throws {@link SandboxerError} `invalid` (field inputs.repo) for what cannot be carried, by name: links
 * that lead out of the tree, sockets, fifos, devices, a submodule that is not checked out, what git itself
 * refuses; `conflict` for the target; `preflight` for a missing git, another user's repository or a full
 * disk; `aborted`.
 *
 * @example
 * ```ts
 * await copyTree("/home/me/app", "/srv/sbx/demo/workspace", { signal });
 * ```
 */
export async function copyTree(
	source: string,
	target: string,
	{ signal, git = "git", owner }: CopyTreeOptions,
): Promise<CopyTreeReport> {
	const step = `the copy of inputs.repo ${JSON.stringify(source)}`;
	stopIfAborted(signal, step);
	const from = await openSource(source);
	try {
		const into = await openTarget(target);
		try {
			if ((await readdir(`${into.path}/.`)).length > 0) {
				throw new SandboxerError({
					code: "conflict",
					message: `${JSON.stringify(target)} is not empty, so nothing was copied to it.`,
					hint: "Remove the sandbox that is there, or take another sandbox_id.",
					details: { directory: target },
				});
			}
			const planned = await plan(from, source, await readlink(into.path), git, step, signal);
			const writer = new TreeWriter({ source, target, step, signal, lanes: new Lanes(PARALLEL), owner });
			await writer.writeEntries(from, into, planned, Buffer.alloc(0));
			if (owner !== undefined) await chown(into.path, owner.uid, owner.gid);
			return { files: writer.files, bytes: writer.bytes };
		} finally {
			await into.close();
		}
	} finally {
		await from.close();
	}
}
