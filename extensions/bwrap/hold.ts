import { readdir } from "node:fs/promises";
import {
	type Attribution,
	type Call,
	type Handle,
	isSameOwner,
	type LocateCall,
	type Located,
} from "../../provider/contract";
import { sandboxIdSchema } from "../../provider/documents/words";
import { SandboxerError } from "../../provider/errors";
import { sandboxDirectory } from "../../provider/workspace";
import { hasBeenReady, leaseFacts } from "./lease";
import { isAnyAlive } from "./liveness";
import { type BwrapRecord, isHolder, parseHandle, readRecord, toHandle, writeRecord } from "./record";
import { directoryOf, lockSandbox, type Site } from "./site";
import { exists } from "./teardown";

/** All sandboxes of this site, whatever their state. */
export async function locateAll(site: Site, { unreadable }: Pick<LocateCall, "unreadable"> = {}): Promise<Located[]> {
	if (!(await exists(site.base))) return [];
	const names = (await readdir(site.base)).filter((name) => sandboxIdSchema.safeParse(name).success);
	const located = names.map(async (name) => {
		try {
			return await locate(site, name);
		} catch (thrown) {
			if (unreadable === undefined) throw thrown;
			unreadable(SandboxerError.from(thrown));
			return [];
		}
	});
	return (await Promise.all(located)).flat();
}

/** The sandbox of an id: one or none. */
export async function locate(site: Site, sandboxId: string): Promise<Located[]> {
	const directory = sandboxDirectory(site.base, sandboxId);
	const record = await readRecord(directory);
	if (record === undefined) return [];
	const { owner, consumer, labels, digest, phase, profile, created_at, ready_at } = record;
	return [
		{
			handle: toHandle(record, directory),
			owner,
			...(consumer === undefined ? {} : { consumer }),
			labels,
			digest,
			phase,
			alive: await isAnyAlive(site.table, directory, record),
			createdAt: created_at,
			...(ready_at === undefined ? {} : { readyAt: ready_at }),
			...(hasBeenReady(record) ? await leaseFacts(site, directory, record) : {}),
			profile,
			credentialRoutes: record.credential_routes,
		},
	];
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

/** Works on the sandbox of a handle while nobody else does; `held`: the handle is of its present holder. */
export function change<T>(
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

export function lost(sandboxId: string): SandboxerError {
	return new SandboxerError({
		code: "gone",
		message: `Sandbox ${sandboxId} is not there any more, or has another holder.`,
		hint: "Nothing was changed. pulumi refresh shows what is left of it.",
		details: { sandbox_id: sandboxId },
	});
}
