import { type Handle, isSameOwner, type SnapshotMeta, type SnapshotRequest } from "../../../provider/contract";
import { hasCode, SandboxerError } from "../../../provider/errors";
import { DEFAULT_LIMITS, type Manifest, type SnapshotFacts, type TakeOptions } from "../../../provider/snapshots";
import { sandboxFolders } from "../holder/command";
import { hasBeenReady } from "../lease";
import { liveSandbox } from "../live-sandbox";
import { isWhole } from "../liveness";
import { type BwrapHandle, type BwrapRecord, isHolder, parseHandle, readRecord } from "../record";
import { directoryOf, lockSandbox, type Site } from "../site";
import { exists } from "../teardown";
import { TAR_DIRECTORY, tarConfinement } from "./confinement";
import { storeOf, toMeta } from "./stored";

/**
 * Takes a snapshot of a sandbox's workspace. Whoever runs is not held up: the workspace is read without the
 * sandbox's lock, and the snapshot exists only if the sandbox still runs then, by which no removal of it had
 * begun. One that does not run any more is read under its lock.
 */
export async function takeSnapshot(site: Site, unchecked: Handle, request: SnapshotRequest): Promise<SnapshotMeta> {
	const handle = parseHandle(unchecked);
	const directory = directoryOf(site, handle);
	const store = storeOf(site);
	const record = await sourceOf(directory, handle);
	const workspace = sandboxFolders(directory).workspace;
	const options: TakeOptions = {
		what: `sandbox ${handle.sandbox_id}`,
		path: site.path,
		confinement: tarConfinement(site.programs(), record, workspace, "read"),
		directory: TAR_DIRECTORY,
		limits: DEFAULT_LIMITS,
		signal: AbortSignal.any([request.signal, AbortSignal.timeout(request.timeoutSeconds * 1000)]),
		timeoutSeconds: request.timeoutSeconds,
		around: (write, exist) => whileThere(site, unchecked, request, write, exist),
	};
	request.progress("reading the workspace");
	try {
		return toMeta(store, await store.take(factsOf(site, record, request), options));
	} catch (thrown) {
		const earlier = hasCode(thrown, "conflict") ? (thrown.details.existing as Manifest | undefined) : undefined;
		if (earlier === undefined || !isSame(earlier, handle, request)) throw thrown;
		return toMeta(store, earlier);
	}
}

async function whileThere(
	site: Site,
	unchecked: Handle,
	request: SnapshotRequest,
	write: () => Promise<void>,
	exist: () => Promise<void>,
): Promise<void> {
	const handle = parseHandle(unchecked);
	const directory = directoryOf(site, handle);
	const locked = <T>(work: () => Promise<T>) => lockSandbox(site, handle.sandbox_id, request, work);
	const isDone = await locked(async () => {
		if (isWhole(site.table, await sourceOf(directory, handle))) return false;
		await write();
		await exist();
		return true;
	});
	if (isDone) return;
	await write();
	await locked(async () => {
		await assertStillRuns(site, unchecked);
		await exist();
	});
}

/** A removal ends all processes before it touches a file. */
async function assertStillRuns(site: Site, handle: Handle): Promise<void> {
	try {
		await liveSandbox(site, handle);
	} catch (cause) {
		const { code, message } = SandboxerError.from(cause);
		throw new SandboxerError({
			code,
			message: `The sandbox ended while its snapshot was taken, so nothing was kept. ${message}`,
			hint: "Where its folder is still there, take the snapshot again.",
			details: { sandbox_id: handle.sandbox_id },
			cause,
		});
	}
}

/** The record of the sandbox that a handle names, running or not. */
async function sourceOf(directory: string, handle: BwrapHandle): Promise<BwrapRecord> {
	const record = (await exists(directory)) ? await readRecord(directory) : undefined;
	if (record !== undefined && isHolder(handle, record) && hasBeenReady(record)) return record;
	throw new SandboxerError({
		code: "gone",
		message: `No snapshot of sandbox ${handle.sandbox_id} was taken: ${record === undefined ? "it is gone" : "it was never ready, or its id is in use by a later life or another holder"}.`,
		hint: "pulumi up makes it again.",
		details: { sandbox_id: handle.sandbox_id },
	});
}

function factsOf(site: Site, record: BwrapRecord, request: SnapshotRequest): SnapshotFacts {
	const now = site.now();
	const { keepSeconds, owner } = request;
	return {
		extension: "ext.bwrap",
		snapshot_id: request.snapshotId,
		sandbox_id: record.sandbox_id,
		generation: record.generation,
		profile: record.profile,
		created_at: new Date(now).toISOString(),
		labels: request.labels,
		...(owner === undefined ? {} : { owner }),
		...(keepSeconds === undefined ? {} : { expires_at: new Date(now + keepSeconds * 1000).toISOString() }),
	};
}

/** Whether what is there is what was asked for: an earlier call made it, and its answer was lost. */
function isSame({ owner, sandbox_id, generation }: Manifest, handle: BwrapHandle, request: SnapshotRequest): boolean {
	const isOwn = owner !== undefined && request.owner !== undefined && isSameOwner(owner, request.owner);
	return isOwn && sandbox_id === handle.sandbox_id && generation === handle.generation;
}
