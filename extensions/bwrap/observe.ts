import { type Call, checkpoint, type Handle, type Ready } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { syncFolder } from "../../provider/records";
import { sandboxFolders } from "./holder/command";
import { identityOf, isWhole } from "./liveness";
import { prove } from "./probes/prove";
import { type BwrapHandle, type BwrapRecord, isHolder, parseHandle, readRecord } from "./record";
import { directoryOf, type Site } from "./site";
import { exists } from "./teardown";

/** Looks at a sandbox and proves its controls. */
export async function observe(site: Site, unchecked: Handle, call: Call): Promise<Ready> {
	const handle = parseHandle(unchecked);
	const directory = directoryOf(site, handle);
	const record = await readRecord(directory);
	if (record === undefined) throw await withoutRecord(site, directory, handle);
	if (!isHolder(handle, record)) throw gone(handle.sandbox_id, "its id is in use by a later life or another holder");
	if (record.phase !== "ready" || !isWhole(site.table, record)) throw dead(record);
	// What is told of the sandbox shall be on the disk, see writeReadyRecord.
	const recorded = syncFolder(directory);
	recorded.catch(() => undefined);
	const controls = await prove(site.programs(), record, directory, call).catch((thrown: unknown) => {
		// It ended meanwhile: what the probes then saw says nothing of its controls.
		throw call.signal.aborted || isWhole(site.table, record) ? thrown : dead(record);
	});
	await recorded;
	await checkpoint("wait:probed");
	const { workspace } = sandboxFolders(directory);
	return {
		reachability: { host: "local", remote_dir: directory },
		workspaceDir: workspace,
		lease: { readyAt: record.ready_at ?? record.created_at, expiresAt: record.expires_at ?? record.created_at },
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

function dead(record: BwrapRecord): SandboxerError {
	if (record.phase !== "ready") return left(record.sandbox_id, "its create was never finished");
	return left(
		record.sandbox_id,
		`it does not run any more (its lease ends ${record.expires_at}); its folder is still there`,
	);
}

function left(sandboxId: string, why: string): SandboxerError {
	return new SandboxerError({
		code: "remains",
		message: `Sandbox ${sandboxId} cannot be used: ${why}.`,
		hint: "pulumi up makes it again, pulumi destroy removes the rest.",
		details: { sandbox_id: sandboxId },
	});
}

function gone(sandboxId: string, why: string): SandboxerError {
	return new SandboxerError({
		code: "gone",
		message: `Sandbox ${sandboxId} is gone: ${why}.`,
		details: { sandbox_id: sandboxId },
	});
}
