import { lstat } from "node:fs/promises";
import { hasErrno, SandboxerError } from "../errors";
import type { HeldDirectory } from "./held-directory";
import { joinBytes } from "./join-bytes";
import { ListedName } from "./listed-name";
import { pathText, plainPathText } from "./path-text";
import { type GitAnswer, type GitSettings, runGit } from "./run-git";

const DOT_GIT = Buffer.from(".git");
/** The mode of a submodule in an index. */
const GITLINK = "160000";

function refused(where: string, answer: GitAnswer, source: string): SandboxerError {
	const lines = answer.stderr.split("\n");
	const words =
		lines.find((line) => line.startsWith("fatal:")) ?? (lines[0] || `exit status ${String(answer.exitCode)}`);
	return new SandboxerError({
		code: answer.isForeign ? "preflight" : "invalid",
		message: `git cannot list ${where}: ${words}`,
		hint: answer.isForeign
			? "The repository belongs to another user. If you trust it: git config --global --add safe.directory with the path in git's words; or run as its owner."
			: "Make git status work there, or give a directory that is not in a git repository.",
		details: { field: "inputs.repo", value: source, stderr: answer.stderr },
	});
}

/** What git lists, of one repository and of those in it. */
class GitLister {
	readonly #source: string;
	readonly #settings: GitSettings;

	constructor(source: string, settings: GitSettings) {
		this.#source = source;
		this.#settings = settings;
	}

	/** Lists a directory and notes its paths below `at`. `path` is the directory's own, from the tree's root; empty there. */
	async list(directory: HeldDirectory, path: Buffer, at: ListedName): Promise<void> {
		await this.#inspect(directory, path);
		const index = await this.#paths(directory, path, ["ls-files", "-z", "--cached", "--stage"]);
		const others = await this.#paths(directory, path, ["ls-files", "-z", "--others", "--exclude-standard"]);
		const inner = new Map<
			string,
			{ readonly path: Buffer; readonly name: ListedName; readonly isSubmodule: boolean }
		>();
		for (const entry of index) {
			const file = entry.subarray(entry.indexOf("\t") + 1);
			const name = at.add(file);
			if (entry.toString("latin1", 0, GITLINK.length) === GITLINK)
				inner.set(file.toString("latin1"), { path: file, name, isSubmodule: true });
		}
		for (const entry of others) {
			// With a slash at its end it is a repository of its own that this one does not know.
			const isRepository = entry.at(-1) === 0x2f;
			const file = isRepository ? entry.subarray(0, -1) : entry;
			const name = at.add(file);
			if (isRepository) inner.set(file.toString("latin1"), { path: file, name, isSubmodule: false });
		}
		for (const found of inner.values()) await this.#listInner(directory, path, found);
	}

	/** Git has to see the directory as part of a work tree, and an inner repository as the top of its own. */
	async #inspect(directory: HeldDirectory, path: Buffer): Promise<void> {
		const answer = await runGit(
			directory.path,
			["rev-parse", "--is-inside-work-tree", "--show-prefix"],
			this.#settings,
		);
		const [isInside, ...prefix] = answer.stdout.toString("latin1").split("\n");
		if (answer.exitCode === 0 && isInside === "true" && (path.length === 0 || prefix.join("") === "")) return;
		const stderr =
			answer.exitCode === 0
				? "it is not in the work tree of its repository (see its .git and core.worktree)."
				: answer.stderr;
		throw refused(this.#where(path), { ...answer, stderr }, this.#source);
	}

	async #paths(directory: HeldDirectory, path: Buffer, words: readonly string[]): Promise<readonly Buffer[]> {
		const answer = await runGit(directory.path, words, this.#settings);
		if (answer.exitCode !== 0) throw refused(this.#where(path), answer, this.#source);
		const paths: Buffer[] = [];
		for (
			let start = 0, end = answer.stdout.indexOf(0);
			end !== -1;
			start = end + 1, end = answer.stdout.indexOf(0, start)
		) {
			paths.push(answer.stdout.subarray(start, end));
		}
		return paths;
	}

	async #listInner(
		outer: HeldDirectory,
		outerPath: Buffer,
		{ path, name, isSubmodule }: { readonly path: Buffer; readonly name: ListedName; readonly isSubmodule: boolean },
	): Promise<void> {
		const directory = await enterAlong(outer, path);
		// Deleted in the work tree, or a file by now.
		if (directory === undefined) return;
		try {
			const full = joinBytes(outerPath, path);
			if (isSubmodule && !(await hasDotGit(directory))) {
				throw new SandboxerError({
					code: "invalid",
					message: `inputs.repo ${JSON.stringify(this.#source)}: its submodule ${pathText(full)} is not checked out.`,
					hint: `Fill it first: git submodule update --init -- ${pathText(full)}`,
					details: { field: "inputs.repo", value: this.#source, paths: [plainPathText(full)] },
				});
			}
			await this.list(directory, full, name);
		} finally {
			await directory.close();
		}
	}

	#where(path: Buffer): string {
		const source = `inputs.repo ${JSON.stringify(this.#source)}`;
		return path.length === 0 ? source : `${pathText(path)} in ${source}`;
	}
}

async function hasDotGit(directory: HeldDirectory): Promise<boolean> {
	try {
		await lstat(directory.at(DOT_GIT));
		return true;
	} catch (thrown) {
		if (hasErrno(thrown, "ENOENT")) return false;
		throw thrown;
	}
}

/** Holds the directory at a path of several parts; undefined when it is not there, or a link is on the way. */
async function enterAlong(top: HeldDirectory, path: Buffer): Promise<HeldDirectory | undefined> {
	let at = top;
	try {
		for (const part of path.toString("latin1").split("/")) {
			const next = await at.enter(Buffer.from(part, "latin1"));
			if (at !== top) await at.close();
			at = next;
		}
		return at;
	} catch (thrown) {
		if (at !== top) await at.close();
		if (hasErrno(thrown, "ENOENT", "ENOTDIR")) return undefined;
		throw thrown;
	}
}

/**
 * What git lists below a directory: tracked and not deleted, or untracked and not ignored; with the
 * repositories in it (submodules and others), each by its own rules.
 *
 * @throws {@link SandboxerError} `invalid` for a submodule that is not checked out and where git itself
 * fails, `preflight` for a repository of another user, `aborted`.
 */
export async function listWithGit(
	directory: HeldDirectory,
	source: string,
	settings: GitSettings,
): Promise<ListedName> {
	const root = new ListedName();
	await new GitLister(source, settings).list(directory, Buffer.alloc(0), root);
	return root;
}
