import type { Located } from "../../provider/contract";
import type { ProcessIdentity } from "../../provider/identity";
import { sandboxFolders } from "./holder/command";
import { readDeadline, uptimeSeconds } from "./holder/control-folder";
import { readVerdict } from "./holder/verdict";
import type { BwrapRecord } from "./record";
import type { Site } from "./site";

/** A record whose sandbox has become ready. */
export type ReadyRecord = BwrapRecord & {
	readonly ready_at: string;
	readonly ready_uptime: number;
	readonly expires_at: string;
	readonly supervisor: ProcessIdentity;
};

export function hasBeenReady(record: BwrapRecord): record is ReadyRecord {
	const { ready_at, ready_uptime, expires_at, supervisor } = record;
	return [ready_at, ready_uptime, expires_at, supervisor].every((fact) => fact !== undefined);
}

/** A moment of the record's UTC (milliseconds) in seconds of the clock that decides; never earlier than it is. */
export function deadlineOf({ ready_at, ready_uptime }: ReadyRecord, at: number): number {
	return Math.max(0, Math.ceil(ready_uptime + (at - Date.parse(ready_at)) / 1000));
}

/** How a lease stands. */
export interface LeaseState {
	/** When it ends, or has ended (UTC, ISO 8601). */
	readonly expiresAt: string;
	readonly isOver: boolean;
	/** It ended after so many seconds without activity. */
	readonly idleSeconds?: number;
}

/**
 * How a lease stands by the clock that the supervisor goes by, as long as the machine has not been booted
 * anew; then by UTC. What the supervisor said itself goes before both.
 */
export async function leaseState(site: Site, directory: string, record: ReadyRecord): Promise<LeaseState> {
	const folders = sandboxFolders(directory);
	const [verdict, written] = await Promise.all([readVerdict(folders.verdict), readDeadline(folders.control)]);
	const { expires_at, ready_at, ready_uptime } = record;
	const utc = (uptime: number) => new Date(Date.parse(ready_at) + (uptime - ready_uptime) * 1000).toISOString();
	if (verdict?.kind === "idle") return { expiresAt: utc(verdict.at), isOver: true, idleSeconds: verdict.seconds };
	const recorded = deadlineOf(record, Date.parse(expires_at));
	// Another one is that of a renewal that was killed before it could write the record.
	const deadline = written ?? recorded;
	const expiresAt = deadline === recorded ? expires_at : utc(deadline);
	if (verdict?.kind === "over") return { expiresAt, isOver: true };
	const isOver = hasRunSince(site, record)
		? uptimeSeconds(site.clock) >= deadline
		: Date.parse(expires_at) <= site.now();
	return { expiresAt, isOver };
}

/** What is told of the lease of a sandbox that was found. */
export async function leaseFacts(
	site: Site,
	directory: string,
	record: ReadyRecord,
): Promise<Pick<Located, "expiresAt" | "isOver" | "clockAheadSeconds">> {
	const { expiresAt, isOver } = await leaseState(site, directory, record);
	if (!hasRunSince(site, record)) return { expiresAt, isOver };
	const sinceReady = uptimeSeconds(site.clock) - record.ready_uptime;
	const ahead = (site.now() - Date.parse(record.ready_at)) / 1000 - sinceReady;
	return { expiresAt, isOver, clockAheadSeconds: Math.round(ahead) };
}

/** Whether the machine, and with it the clock that decides, has run without a boot since the sandbox was made. */
function hasRunSince(site: Site, { supervisor }: ReadyRecord): boolean {
	return supervisor.boot_id === site.table.bootId();
}
