import { setTimeout as pause } from "node:timers/promises";
import type { ProcessIdentity, ProcessTable } from "../../provider/identity";
import { sandboxFolders } from "./holder/command";
import { readSupervisor } from "./holder/supervisor";
import type { BwrapHandle, BwrapRecord } from "./record";

/** The processes of a sandbox that are known by identity: from its record, else as the supervisor wrote itself. */
export async function knownProcesses(
	directory: string,
	record: BwrapRecord,
): Promise<{ supervisor?: ProcessIdentity; init?: ProcessIdentity }> {
	const supervisor = record.supervisor ?? (await readSupervisor(sandboxFolders(directory).supervisor));
	return {
		...(supervisor === undefined ? {} : { supervisor }),
		...(record.init === undefined ? {} : { init: record.init }),
	};
}

/** Whether any process of the sandbox still runs. */
export async function isAnyAlive(table: ProcessTable, directory: string, record: BwrapRecord): Promise<boolean> {
	const { supervisor, init } = await knownProcesses(directory, record);
	return [supervisor, init].some((identity) => identity !== undefined && table.isAlive(identity));
}

/** Whether it can be used: both the supervisor, which ends it in time, and its first process run. */
export function isWhole(table: ProcessTable, { supervisor, init }: BwrapRecord): boolean {
	return supervisor !== undefined && init !== undefined && table.isAlive(supervisor) && table.isAlive(init);
}

/** How long after one of its processes a sandbox may still look alive, where all of it is being ended. */
export const ENDING_MS = 50;

/** Whether a sandbox is at its end: its processes die one after another. */
export async function endsWithin(milliseconds: number, table: ProcessTable, record: BwrapRecord): Promise<boolean> {
	const deadline = performance.now() + milliseconds;
	while (isWhole(table, record)) {
		if (performance.now() >= deadline) return false;
		await pause(5);
	}
	return true;
}

/** The process that a handle names. */
export function identityOf({ boot_id, pid, start_ticks }: BwrapHandle): ProcessIdentity | undefined {
	return boot_id === undefined || pid === undefined || start_ticks === undefined
		? undefined
		: { boot_id, pid, start_ticks };
}
