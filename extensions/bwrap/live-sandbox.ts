import type { Handle } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { durationText } from "../../provider/lease/duration";
import { hasBeenReady, leaseState, type ReadyRecord } from "./lease";
import { identityOf, isWhole } from "./liveness";
import { type BwrapHandle, isHolder, parseHandle, readRecord } from "./record";
import { directoryOf, type Site } from "./site";
import { exists } from "./teardown";

/** A sandbox that runs, and that is its present holder's. */
export interface LiveSandbox {
	readonly handle: BwrapHandle;
	readonly record: ReadyRecord;
	readonly directory: string;
}

/**
 * The sandbox that a handle names, as it is now.
 *
 * @throws SandboxerError `gone` where nothing is left of it, or it is another life's or holder's; `remains`
 * where it does not run.
 */
export async function liveSandbox(site: Site, unchecked: Handle): Promise<LiveSandbox> {
	const handle = parseHandle(unchecked);
	const directory = directoryOf(site, handle);
	const record = await readRecord(directory);
	if (record === undefined) throw await withoutRecord(site, directory, handle);
	if (!isHolder(handle, record)) throw gone(handle.sandbox_id, "its id is in use by a later life or another holder");
	if (!hasBeenReady(record)) throw left(record.sandbox_id, "its create was never finished");
	if (!isWhole(site.table, record)) throw await dead(site, directory, record);
	return { handle, record, directory };
}

async function withoutRecord(site: Site, directory: string, handle: BwrapHandle): Promise<SandboxerError> {
	const identity = identityOf(handle);
	if (identity !== undefined && site.table.isAlive(identity)) {
		return left(handle.sandbox_id, `process ${identity.pid} still runs, but its folder ${directory} is gone`);
	}
	if (await exists(directory)) return left(handle.sandbox_id, `the folder ${directory} is there without its record`);
	return gone(handle.sandbox_id, "neither its process nor its folder is there");
}

/** That a sandbox does not run, while something of it is still there. */
export async function dead(site: Site, directory: string, record: ReadyRecord): Promise<SandboxerError> {
	const { isOver, expiresAt, idleSeconds } = await leaseState(site, directory, record);
	const why =
		idleSeconds === undefined ? `its lease ends ${expiresAt}` : `it was idle for ${durationText(idleSeconds)}`;
	return left(record.sandbox_id, `it does not run any more (${why}); its folder is still there`, isOver);
}

/** @param isExpired - It was ended by its lease. */
function left(sandboxId: string, why: string, isExpired = false): SandboxerError {
	return new SandboxerError({
		code: "remains",
		message: `Sandbox ${sandboxId} cannot be used: ${why}.`,
		hint: "pulumi up makes it again, pulumi destroy removes the rest.",
		details: { sandbox_id: sandboxId, expired: isExpired },
	});
}

function gone(sandboxId: string, why: string): SandboxerError {
	return new SandboxerError({
		code: "gone",
		message: `Sandbox ${sandboxId} is gone: ${why}.`,
		details: { sandbox_id: sandboxId },
	});
}
