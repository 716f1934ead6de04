import type { Call, CleanupReport, Handle } from "../../provider/contract";
import { hasBeenReady, leaseState } from "./lease";
import { isHolder, parseHandle, readRecord } from "./record";
import { directoryOf, lockSandbox, type Site } from "./site";
import { exists, NOTHING, removeSandbox } from "./teardown";

/**
 * Removes a sandbox whose lease is over, judged under its lock. Undefined where it is not over, or was never
 * ready; an empty report where it is gone already, or is somebody else's by now.
 */
export async function expire(site: Site, unchecked: Handle, call: Call): Promise<CleanupReport | undefined> {
	const handle = parseHandle(unchecked);
	const directory = directoryOf(site, handle);
	if (!(await exists(site.base))) return NOTHING;
	return lockSandbox(site, handle.sandbox_id, call, async () => {
		const record = await readRecord(directory);
		if (record === undefined || !isHolder(handle, record)) return NOTHING;
		if (!hasBeenReady(record) || !(await leaseState(site, directory, record)).isOver) return undefined;
		return removeSandbox(site, directory, record, call);
	});
}
