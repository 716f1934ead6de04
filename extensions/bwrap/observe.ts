import { type Call, checkpoint, type Handle, type Ready } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { durationText } from "../../provider/lease/duration";
import { sandboxFolders } from "./holder/command";
import { hasBeenReady, leaseState, type ReadyRecord } from "./lease";
import { identityOf, isWhole } from "./liveness";
import { prove } from "./probes/prove";
import { type BwrapHandle, isHolder, parseHandle, readRecord } from "./record";
import { directoryOf, type Site } from "./site";
import { exists } from "./teardown";

/** Looks at a sandbox and proves its controls. */
export async function observe(site: Site, unchecked: Handle, call: Call): Promise<Ready> {
	const handle = parseHandle(unchecked);
	const directory = directoryOf(site, handle);
	const record = await readRecord(directory);
	if (record === undefined) throw await withoutRecord(site, directory, handle);
	if (!isHolder(handle, record)) throw gone(handle.sandbox_id, "its id is in use by a later life or another holder");
	if (!hasBeenReady(record)) throw left(record.sandbox_id, "its create was never finished");
	if (!isWhole(site.table, record)) throw await dead(site, directory, record);
	const controls = await prove(site.programs(), record, directory, call).catch(async (thrown: unknown) => {
		// It ended meanwhile: what the probes then saw says nothing of its controls.
		throw call.signal.aborted || isWhole(site.table, record) ? thrown : await dead(site, directory, record);
	});
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

async function withoutRecord(site: Site, directory: string, handle: BwrapHandle): Promise<SandboxerError> {
	const identity = identityOf(handle);
	if (identity !== undefined && site.table.isAlive(identity)) {
		return left(handle.sandbox_id, `process ${identity.pid} still runs, but its folder ${directory} is gone`);
	}
	if (await exists(directory)) return left(handle.sandbox_id, `the folder ${directory} is there without its record`);
	return gone(handle.sandbox_id, "neither its process nor its folder is there");
}

async function dead(site: Site, directory: string, record: ReadyRecord): Promise<SandboxerError> {
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
