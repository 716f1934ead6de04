import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Call, CleanupReport, Finding } from "../../../provider/contract";
import { sandboxIdSchema } from "../../../provider/documents/words";
import { SandboxerError } from "../../../provider/errors";
import { isLocked } from "../../../provider/records";
import { sandboxDirectory } from "../../../provider/workspace";
import { LOCK, lockFile, lockSandbox, type Site } from "../site";
import { exists, NOTHING } from "../teardown";
import { holderProcesses } from "./holder-processes";
import { type Found, look } from "./look";

/** What a folder is called while the last of it is removed; see removeTree. */
const REMOVING = /^\.(.+)\.removing$/;

/** What no sandbox of this state folder accounts for, or has outlived its sandbox. Looks only. */
export async function inventory(site: Site, call: Call): Promise<Finding[]> {
	const names = (await exists(site.base)) ? await readdir(site.base) : [];
	const held = (await holderProcesses(site)).map(({ sandboxId }) => sandboxId);
	const ids = new Set([...names.flatMap((name) => idOf(name) ?? []), ...held]);
	const found: Finding[] = [];
	for (const id of [...ids].sort()) found.push(...(await findingsOf(site, id, call)));
	return [...found, ...names.filter((name) => idOf(name) === undefined).map((name) => stranger(join(site.base, name)))];
}

/**
 * Removes one finding, whatever its action, after another look at it under the lock. One that is not there any more
 * is no error; one that is not ours by its record is refused.
 */
export async function reap(site: Site, { what, sandboxId, reason }: Finding, call: Call): Promise<CleanupReport> {
	if (sandboxId === undefined) throw notOurs(what, reason);
	const directory = sandboxDirectory(site.base, sandboxId);
	if (!(await exists(site.base))) return NOTHING;
	const file = `file ${lockFile(site, sandboxId)}`;
	const isLock = what === file && (await exists(lockFile(site, sandboxId)));
	return lockSandbox(site, sandboxId, call, async () => {
		// The end of the lock removes its file.
		if (isLock) return { found: [file], removed: [file], remains: [] };
		const again = (await look(site, sandboxId, directory)).find(({ finding }) => finding.what === what);
		if (again === undefined) return NOTHING;
		if (again.remove === undefined) throw notOurs(what, again.finding.reason);
		return again.remove(call);
	});
}

function notOurs(what: string, reason: string): SandboxerError {
	return new SandboxerError({
		code: "conflict",
		message: `The ${what} was not removed: ${reason}.`,
		hint: "Look at it, and remove it by hand if it is not wanted.",
		details: { what },
	});
}

/** The id that a name in the state folder has to do with; undefined for one that nothing here has made. */
function idOf(name: string): string | undefined {
	const id = name.startsWith(LOCK) ? name.slice(LOCK.length) : (REMOVING.exec(name)?.[1] ?? name);
	return sandboxIdSchema.safeParse(id).success ? id : undefined;
}

function stranger(path: string): Finding {
	const reason = "its name is no sandbox id: nothing here has made it";
	return { kind: "orphan_dir", what: `directory ${path}`, action: "inspect", reason };
}

/** None while somebody works on it. */
async function findingsOf(site: Site, sandboxId: string, { signal }: Call): Promise<Finding[]> {
	const lock = lockFile(site, sandboxId);
	if (await isLocked(lock, { signal, path: site.path })) return [];
	const directory = sandboxDirectory(site.base, sandboxId);
	const found = (await look(site, sandboxId, directory)).map(({ finding }: Found) => finding);
	// Beside a folder it is removed by whoever works on that next.
	if ((await exists(directory)) || !(await exists(lock))) return found;
	const reason = "the lock of a run that was killed; there is no such sandbox";
	return [...found, { kind: "orphan_dir", what: `file ${lock}`, sandboxId, action: "reap", reason }];
}
