import { readdir } from "node:fs/promises";
import { type Attribution, type Call, type Handle, isSameOwner, type Located } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { sandboxDirectory } from "../../provider/workspace";
import { sandboxFolders } from "./holder/command";
import { uptimeSeconds, writeDeadline } from "./holder/control-folder";
import { isAnyAlive, isWhole } from "./liveness";
import { type BwrapRecord, isHolder, parseHandle, readRecord, toHandle, writeRecord } from "./record";
import { directoryOf, lockSandbox, type Site } from "./site";
import { exists } from "./teardown";

/** All sandboxes of this site, whatever their state. */
export async function locateAll(site: Site): Promise<(Located & { readonly owner: BwrapRecord["owner"] })[]> {
	if (!(await exists(site.base))) return [];
	const names = (await readdir(site.base)).filter((name) => !name.startsWith("."));
	const located = await Promise.all(
		names.map(async (name) => {
			const directory = sandboxDirectory(site.base, name);
			const record = await readRecord(directory);
			if (record === undefined) return [];
			return [
				{
					handle: toHandle(record, directory),
					owner: record.owner,
					digest: record.digest,
					alive: await isAnyAlive(site.table, directory, record),
					createdAt: record.created_at,
					expiresAt: record.expires_at ?? earliestDeadline(record),
				},
			];
		}),
	);
	return located.flat();
}

/** Of a create that is not finished: its supervisor, if it has one, counts from a little later on. */
function earliestDeadline({ created_at, ttl_seconds }: BwrapRecord): string {
	return new Date(Date.parse(created_at) + ttl_seconds * 1000).toISOString();
}

/**
 * Writes for whom a sandbox is held. Another owner is another holder: the earlier one's handle means nothing
 * from here on. Done twice, as by a retry whose first answer was lost, it is done once.
 */
export function claim(
	site: Site,
	handle: Handle,
	{ owner, consumer, labels }: Attribution,
	call: Call,
): Promise<Handle> {
	const claimed = (record: BwrapRecord, number: number): BwrapRecord => {
		const { consumer: _earlier, ...rest } = record;
		return { ...rest, owner, labels, ...(consumer === undefined ? {} : { consumer }), claim: number };
	};
	return change(site, handle, call, async (record, directory, held) => {
		const changesHands = !isSameOwner(record.owner, owner);
		if (!held && (changesHands || record.claim !== Number(handle["claim"]) + 1)) throw lost(record.sandbox_id);
		const written = claimed(record, changesHands ? record.claim + 1 : record.claim);
		await writeRecord(directory, written);
		return toHandle(written, directory);
	});
}

/** Moves the deadline, first where it bites, then in the record. */
export function extendLease(site: Site, handle: Handle, expiresAt: string, call: Call): Promise<string> {
	return change(site, handle, call, async (record, directory, held) => {
		if (!held) throw lost(record.sandbox_id);
		const left = Math.ceil((Date.parse(expiresAt) - site.now()) / 1000);
		if (record.supervisor === undefined || !isWhole(site.table, record)) throw lost(record.sandbox_id);
		writeDeadline(sandboxFolders(directory).control, Math.max(0, uptimeSeconds() + left));
		await writeRecord(directory, { ...record, expires_at: expiresAt });
		site.table.signal(record.supervisor, "SIGUSR1");
		return expiresAt;
	});
}

function change<T>(
	site: Site,
	unchecked: Handle,
	call: Call,
	work: (record: BwrapRecord, directory: string, held: boolean) => Promise<T>,
): Promise<T> {
	const handle = parseHandle(unchecked);
	const directory = directoryOf(site, handle);
	return lockSandbox(site, handle.sandbox_id, call, async () => {
		const record = await readRecord(directory);
		if (record === undefined || record.generation !== handle.generation) throw lost(handle.sandbox_id);
		return work(record, directory, isHolder(handle, record));
	});
}

function lost(sandboxId: string): SandboxerError {
	return new SandboxerError({
		code: "gone",
		message: `Sandbox ${sandboxId} is not there any more, or has another holder.`,
		hint: "Nothing was changed. pulumi refresh shows what is left of it.",
		details: { sandbox_id: sandboxId },
	});
}
