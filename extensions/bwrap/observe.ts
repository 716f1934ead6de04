import { type Call, checkpoint, type Handle, type Ready } from "../../provider/contract";
import { hasErrno } from "../../provider/errors";
import { syncFolder } from "../../provider/records";
import { sandboxFolders } from "./holder/command";
import { leaseState } from "./lease";
import { dead, liveSandbox } from "./live-sandbox";
import { ENDING_MS, endsWithin } from "./liveness";
import { prove } from "./probes/prove";
import type { Site } from "./site";

/** How long a process that has begun to end may take, at most. */
const VANISHED_MS = 2000;

/** Looks at a sandbox and proves its controls. */
export async function observe(site: Site, unchecked: Handle, call: Call): Promise<Ready> {
	const { record, directory } = await liveSandbox(site, unchecked);
	// What is told of the sandbox shall be on the disk, see writeReadyRecord.
	const recorded = syncFolder(directory);
	recorded.catch(() => undefined);
	const controls = await prove(site, record, directory, call).catch(async (thrown: unknown) => {
		if (call.signal.aborted) throw thrown;
		// A process that is ending has no namespaces any more, and is in /proc all the same.
		const patience = hasErrno(thrown, "ENOENT", "ESRCH") ? VANISHED_MS : ENDING_MS;
		// It ended meanwhile: what the probes then saw says nothing of its controls.
		throw (await endsWithin(patience, site.table, record)) ? await dead(site, directory, record) : thrown;
	});
	await recorded;
	await checkpoint("wait:probed");
	const { expiresAt } = await leaseState(site, directory, record);
	const { workspace } = sandboxFolders(directory);
	return {
		reachability: { host: "local", remote_dir: directory },
		workspaceDir: workspace,
		lease: { readyAt: record.ready_at, expiresAt },
		controls,
	};
}
