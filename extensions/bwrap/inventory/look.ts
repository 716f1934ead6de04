import { join } from "node:path";
import type { Call, CleanupReport, Finding } from "../../../provider/contract";
import { hasErrno, SandboxerError } from "../../../provider/errors";
import { type ProcessIdentity, waitUntilDead } from "../../../provider/identity";
import { removeTree } from "../../../provider/workspace";
import { hasBeenReady, leaseState } from "../lease";
import { planCgroups, removeCgroups } from "../limits/cgroup";
import { cgroupName } from "../limits/cgroup-name";
import { isWhole, knownProcesses } from "../liveness";
import { type BwrapRecord, RECORD_FILE, readRecord } from "../record";
import type { Site } from "../site";
import { END_TIMEOUT_MS, exists, isUnfinished, removeSandbox } from "../teardown";
import { type HolderProcess, holderProcesses } from "./holder-processes";

/** How long after the end of its lease a sandbox is left to its stack, in milliseconds. */
const LEFT_TO_ITS_STACK_MS = 3_600_000;

/** A finding, and how it is removed by whoever holds the lock of its id; undefined where it is not ours to remove. */
export interface Found {
	readonly finding: Finding;
	readonly remove?: (call: Call) => Promise<CleanupReport>;
}

/** What there is of one sandbox that should not be. */
export async function look(site: Site, sandboxId: string, directory: string): Promise<Found[]> {
	let record: BwrapRecord | undefined;
	try {
		record = await readRecord(directory);
	} catch (thrown) {
		const { message, cause } = SandboxerError.from(thrown);
		if (hasErrno(cause, "EACCES", "EPERM")) return []; // Another user's.
		return [strange(directory, sandboxId, message.replace(/\.$/, ""))];
	}
	const folder =
		record === undefined
			? await ofFolder(site, sandboxId, directory)
			: await ofRecord(site, sandboxId, directory, record);
	return [...folder, ...(await ofProcesses(site, sandboxId, directory, record))];
}

function strange(directory: string, sandboxId: string, reason: string): Found {
	const what = `directory ${directory}`;
	return { finding: { kind: "orphan_dir", what, sandboxId, action: "inspect", reason } };
}

/** A folder without a record. */
async function ofFolder(site: Site, sandboxId: string, directory: string): Promise<Found[]> {
	const leaving = join(site.base, `.${sandboxId}.removing`);
	const isThere = await exists(directory);
	if (!isThere && !(await exists(leaving))) return [];
	if (isThere && !(await isUnfinished(directory)))
		return [strange(directory, sandboxId, "it has no record that would make it ours")];
	const what = `directory ${isThere ? directory : leaving}`;
	const reason = isThere
		? "a create was killed before it wrote its record: nothing is in it"
		: "a removal was killed at its very end";
	return [
		{
			finding: { kind: "orphan_dir", what, sandboxId, action: "reap", reason },
			remove: async ({ signal }) => {
				const tree = await removeTree(directory, { signal, marker: isUnfinished, last: [RECORD_FILE] });
				return {
					found: [what],
					removed: tree.removed ? [what] : [],
					remains: tree.remains.map((path) => `directory ${path}`),
				};
			},
		},
	];
}

async function ofRecord(site: Site, sandboxId: string, directory: string, record: BwrapRecord): Promise<Found[]> {
	const judged = await judge(site, directory, record);
	if (judged === undefined) return [];
	return [
		{
			finding: { what: `directory ${directory}`, sandboxId, ...judged },
			remove: (call) => removeSandbox(site, directory, record, call),
		},
	];
}

async function judge(
	site: Site,
	directory: string,
	record: BwrapRecord,
): Promise<Pick<Finding, "kind" | "action" | "reason"> | undefined> {
	if (!hasBeenReady(record))
		return {
			kind: "aged_dir",
			action: "reap",
			reason: `its create, begun at ${record.created_at}, was never finished, and nobody is at it`,
		};
	const runs = isWhole(site.table, record);
	const { isOver, expiresAt } = await leaseState(site, directory, record);
	if (!isOver)
		return runs
			? undefined
			: {
					kind: "zombie_record",
					action: "inspect",
					reason: `it does not run, but its lease lasts until ${expiresAt}: it was killed, or the machine was booted anew`,
				};
	const reason = `its lease ended at ${expiresAt}${runs ? ", but it runs: its supervisor is held up" : ""}`;
	return site.now() - Date.parse(expiresAt) > LEFT_TO_ITS_STACK_MS
		? { kind: "aged_dir", action: "reap", reason }
		: { kind: "zombie_record", action: "ignore", reason: `${reason}; its stack removes it, or expire` };
}

/** Processes that hold a sandbox which has no record, or another life of it. */
async function ofProcesses(
	site: Site,
	sandboxId: string,
	directory: string,
	record: BwrapRecord | undefined,
): Promise<Found[]> {
	const all = (await holderProcesses(site)).filter((holder) => holder.sandboxId === sandboxId);
	const { supervisor } = record === undefined ? {} : await knownProcesses(directory, record);
	// What a supervisor has started ends with it.
	const supervisors = new Set(all.filter(({ role }) => role === "supervisor").map(({ identity }) => identity.pid));
	const orphans = all.filter(
		({ identity, parent }) => !isSame(identity, supervisor) && !supervisors.has(parent) && parent !== supervisor?.pid,
	);
	return orphans.map((holder) => orphan(site, holder));
}

function isSame(one: ProcessIdentity, other: ProcessIdentity | undefined): boolean {
	return one.pid === other?.pid && one.start_ticks === other.start_ticks && one.boot_id === other.boot_id;
}

function orphan(site: Site, { role, sandboxId, identity }: HolderProcess): Found {
	const what = `process ${identity.pid}`;
	return {
		finding: {
			kind: "orphan_process",
			what,
			sandboxId,
			action: "reap",
			reason: `a ${role === "bwrap" ? role : "supervisor"} of ${sandboxId}, which has no record of it`,
		},
		remove: async () => {
			const directory = join(site.base, sandboxId);
			site.table.signal(identity, "SIGKILL", role === "supervisor" ? "group" : "process");
			const alive = await waitUntilDead(site.table, [identity], END_TIMEOUT_MS);
			if (alive.length > 0) return { found: [what], removed: [], remains: [what] };
			// The record that named its groups is gone: all that there can be.
			const name = cgroupName(directory, sandboxId);
			const groups = planCgroups(name, { cpu: 1, memory_mb: 1 });
			const remains = await removeCgroups(name, groups, END_TIMEOUT_MS);
			return { found: [what, ...remains], removed: [what], remains };
		},
	};
}
