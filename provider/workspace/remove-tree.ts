import { lstat } from "node:fs/promises";
import { basename, dirname, posix } from "node:path";
import { errnoText, hasErrno, isSystemError, SandboxerError } from "../errors";
import { HeldDirectory } from "./held-directory";
import { MountBounds } from "./mount-bounds";
import { Removal, type RemoveTreeReport } from "./removal";
import { stillThere } from "./still-there";
import { stopIfAborted } from "./stop";

export type { RemoveTreeReport } from "./removal";

export interface RemoveTreeOptions {
	/** Fires when the caller is gone; a removal that was stopped goes on with the next call. */
	readonly signal: AbortSignal;
	/** Whether a directory is this sandbox's: it is asked before anything is touched. */
	readonly marker: (directory: string) => Promise<boolean>;
	/** Names directly in the directory that go after all else, such as the marker's: what is left of a stopped removal is still known as ours. */
	readonly last?: readonly string[];
}

function conflict(directory: string, message: string, hint: string): SandboxerError {
	return new SandboxerError({
		code: "conflict",
		message: `${JSON.stringify(directory)} ${message}. Nothing was removed.`,
		hint,
		details: { directory },
	});
}

function checkArguments(directory: string, last: readonly string[]): void {
	const isSound =
		directory.startsWith("/") &&
		directory !== "/" &&
		posix.normalize(directory) === directory &&
		!directory.endsWith("/") &&
		!directory.includes("\0");
	if (isSound && last.every((name) => name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name))) return;
	throw new SandboxerError({
		code: "internal",
		message: `${JSON.stringify(directory)} with ${JSON.stringify(last)} last is not a sandbox's directory. Nothing was removed.`,
		details: { directory, last },
	});
}

/** Holds the directory to be removed; undefined when there is none. */
async function holdOwn(
	parent: HeldDirectory,
	directory: string,
	marker: RemoveTreeOptions["marker"],
): Promise<HeldDirectory | undefined> {
	const name = Buffer.from(basename(directory));
	let held: HeldDirectory;
	try {
		held = await parent.enter(name);
	} catch (thrown) {
		if (hasErrno(thrown, "ENOENT")) return undefined;
		if (!hasErrno(thrown, "ENOTDIR")) throw thrown;
		const isLink = (await lstat(parent.at(name))).isSymbolicLink();
		throw conflict(
			directory,
			`is ${isLink ? "a symbolic link" : "not a directory"}, which no sandbox's directory is`,
			"Look who made it, and remove it by hand.",
		);
	}
	try {
		if (!(await marker(directory)))
			throw conflict(
				directory,
				"is an existing directory without our marker",
				"If it is a sandbox's all the same, remove it by hand.",
			);
		const [ours, named] = [await held.stat(), await lstat(directory, { bigint: true })];
		if (ours.dev !== named.dev || ours.ino !== named.ino)
			throw conflict(directory, "became another directory meanwhile", "Run again.");
		return held;
	} catch (thrown) {
		await held.close();
		throw thrown;
	}
}

async function isThere(path: string | Buffer): Promise<boolean> {
	try {
		await lstat(path);
		return true;
	} catch (thrown) {
		if (hasErrno(thrown, "ENOENT", "ENOTDIR")) return false;
		throw thrown;
	}
}

async function removeBelow(
	parent: HeldDirectory,
	directory: string,
	{ signal, marker, last = [] }: RemoveTreeOptions,
): Promise<RemoveTreeReport> {
	const removal = new Removal(parent, await MountBounds.of(parent), directory, last, signal);
	const finished = await removal.finish();
	const held = await holdOwn(parent, directory, marker);
	if (held === undefined) return finished ?? { removed: false, remains: [] };
	try {
		const report = await removal.remove(held);
		const isBack = report.removed && (await isThere(parent.at(Buffer.from(basename(directory)))));
		if (!isBack) return report;
		return { removed: false, remains: [directory], reason: stillThere(directory, "somebody made it anew") };
	} finally {
		await held.close();
	}
}

/**
 * Removes a sandbox's directory and looks again. It stays on one mount: what is mounted below is left
 * alone, with the directories above it. Links are removed, never followed; directories that the payload
 * shut (mode 000) are opened first; what cannot be removed does not stop the rest. A directory that is not
 * there is fine, and so is a second call after one that was stopped or killed.
 *
 * @param directory - absolute, as {@link sandboxDirectory} gives it.
 * @throws {@link SandboxerError} `conflict` for a link, a file, or a directory without our marker: nothing
 * was touched then; `aborted`; `unknown` when the directory cannot be looked at.
 *
 * @example
 * ```ts
 * const { remains } = await removeTree("/srv/sbx/demo", { signal, marker: isOurs, last: [".sandboxer.json"] });
 * ```
 */
export async function removeTree(directory: string, options: RemoveTreeOptions): Promise<RemoveTreeReport> {
	checkArguments(directory, options.last ?? []);
	stopIfAborted(options.signal, `the removal of ${JSON.stringify(directory)}`);
	try {
		const parent = await HeldDirectory.open(dirname(directory), { followLinks: true });
		try {
			return await removeBelow(parent, directory, options);
		} finally {
			await parent.close();
		}
	} catch (cause) {
		if (!isSystemError(cause)) throw cause;
		// Whoever else removes it, or its parent, may be faster: what counts is that it is not there.
		if (hasErrno(cause, "ENOENT", "ENOTDIR") && !(await isThere(directory))) return { removed: false, remains: [] };
		throw new SandboxerError({
			code: "unknown",
			message: `The removal of ${JSON.stringify(directory)} stopped: ${errnoText(cause)}.`,
			hint: "See that this user may write there, then run again.",
			details: { directory },
			cause,
		});
	}
}
