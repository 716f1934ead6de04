import { lstat, readdir } from "node:fs/promises";
import { type Call, type CleanupReport, checkpoint, type Handle } from "../../provider/contract";
import { hasErrno, SandboxerError } from "../../provider/errors";
import { type ProcessIdentity, waitUntilDead } from "../../provider/identity";
import { removeTree } from "../../provider/workspace";
import { removeCgroups } from "./limits/cgroup";
import { cgroupName } from "./limits/cgroup-name";
import { identityOf, knownProcesses } from "./liveness";
import { type BwrapHandle, type BwrapRecord, isHolder, parseHandle, RECORD_FILE, readRecord } from "./record";
import { directoryOf, lockSandbox, type Site } from "./site";

/** How long ended processes may take to disappear. The kernel takes milliseconds. */
export const END_TIMEOUT_MS = 10_000;

export const NOTHING: CleanupReport = { found: [], removed: [], remains: [] };

/** Removes a sandbox, from whatever state, if the handle is of its present holder. */
export async function teardown(site: Site, unchecked: Handle, call: Call): Promise<CleanupReport> {
	const handle = parseHandle(unchecked);
	const directory = directoryOf(site, handle);
	if (!(await exists(site.base))) return endProcess(site, handle);
	return lockSandbox(site, handle.sandbox_id, call, async () => {
		await checkpoint("teardown:locked");
		const record = await readRecord(directory);
		if (record === undefined) return withoutRecord(site, directory, handle, call);
		if (!isHolder(handle, record)) return NOTHING;
		return removeSandbox(site, directory, record, call);
	});
}

/** Removes everything that a record tells of. The caller holds the lock and has judged whose it is. */
export async function removeSandbox(
	site: Site,
	directory: string,
	record: BwrapRecord,
	call: Pick<Call, "signal">,
): Promise<CleanupReport> {
	const { supervisor, init } = await knownProcesses(directory, record);
	const processes = [supervisor, init].filter(
		(identity) => identity !== undefined && site.table.isAlive(identity),
	) as ProcessIdentity[];
	const found = [
		...processes.map(describe),
		...record.cgroups.map(({ folder }) => `control group ${folder}`),
		`directory ${directory}`,
	];
	// The group is the supervisor's own session: its timer, bwrap, and by bwrap's death all that is inside.
	if (supervisor !== undefined) site.table.signal(supervisor, "SIGKILL", "group");
	if (init !== undefined) site.table.signal(init, "SIGKILL");
	await site.probes.drop(directory);
	const alive = await waitUntilDead(site.table, processes, END_TIMEOUT_MS);
	if (alive.length > 0) return report(found, alive.map(describe), directory);
	await checkpoint("teardown:processes-ended");
	const groups = await removeCgroups(cgroupName(directory, record.sandbox_id), record.cgroups, END_TIMEOUT_MS);
	if (groups.length > 0) return report(found, groups, directory);
	await checkpoint("teardown:limits-removed");
	const isOurs = async (folder: string) => (await readRecord(folder))?.sandbox_id === record.sandbox_id;
	const tree = await removeTree(directory, { signal: call.signal, marker: isOurs, last: [RECORD_FILE] });
	await checkpoint("teardown:directory-removed");
	return {
		found,
		removed: tree.remains.length > 0 ? found.filter((thing) => !thing.startsWith("directory ")) : found,
		remains: tree.remains.map((path) => `directory ${path}`),
	};
}

/** What was not reached stays too: the folder with the record is removed last. */
function report(found: string[], remains: string[], directory: string): CleanupReport {
	const all = [...remains, `directory ${directory}`];
	return { found, removed: found.filter((thing) => !all.includes(thing)), remains: all };
}

/** No record: the folder is gone, was never finished, or is not ours. */
async function withoutRecord(site: Site, directory: string, handle: BwrapHandle, call: Call): Promise<CleanupReport> {
	const ended = await endProcess(site, handle);
	if ((await exists(directory)) && !(await isUnfinished(directory))) {
		throw new SandboxerError({
			code: "conflict",
			message: `Sandbox ${handle.sandbox_id} was not removed: remote_dir ${directory} is there, but without the record that would make it ours.`,
			hint: "Nothing in it was touched. Look at it, and remove it by hand if it is not wanted.",
			details: { sandbox_id: handle.sandbox_id, remote_dir: directory },
		});
	}
	// Also where it is gone: a removal that was killed at its very end is finished.
	const tree = await removeTree(directory, { signal: call.signal, marker: isUnfinished, last: [RECORD_FILE] });
	const folder = tree.removed ? [`directory ${directory}`] : [];
	return {
		found: [...ended.found, ...folder],
		removed: [...ended.removed, ...folder],
		remains: [...ended.remains, ...tree.remains.map((path) => `directory ${path}`)],
	};
}

/** A folder in which no record was finished: a create was killed between the two. There is nobody's data in it. */
export async function isUnfinished(directory: string): Promise<boolean> {
	if (!(await lstat(directory)).isDirectory()) return false;
	return (await readdir(directory)).every((name) => name.startsWith(`${RECORD_FILE}.`));
}

/** Ends the one process that the handle names, if it is still that one. */
async function endProcess(site: Site, handle: BwrapHandle): Promise<CleanupReport> {
	const identity = identityOf(handle);
	if (identity === undefined || !site.table.signal(identity, "SIGKILL", "group")) return NOTHING;
	const alive = await waitUntilDead(site.table, [identity], END_TIMEOUT_MS);
	return {
		found: [describe(identity)],
		removed: alive.length === 0 ? [describe(identity)] : [],
		remains: alive.map(describe),
	};
}

function describe({ pid }: ProcessIdentity): string {
	return `process ${pid}`;
}

export async function exists(path: string): Promise<boolean> {
	try {
		await lstat(path);
		return true;
	} catch (thrown) {
		if (hasErrno(thrown, "ENOENT", "ENOTDIR")) return false;
		throw thrown;
	}
}
