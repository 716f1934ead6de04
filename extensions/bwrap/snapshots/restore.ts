import { chmod, chown } from "node:fs/promises";
import type { Call, SnapshotMeta } from "../../../provider/contract";
import { SandboxerError } from "../../../provider/errors";
import { DEFAULT_LIMITS, type InspectedArchive } from "../../../provider/snapshots";
import type { BwrapInputs } from "../inputs";
import type { Site } from "../site";
import type { WorkspaceSource } from "../workspace-source";
import { TAR_DIRECTORY, tarConfinement } from "./confinement";
import { another, storeOf } from "./stored";

/** The workspace out of a snapshot, which is looked at whole before anything of the sandbox is made. */
export async function snapshotSource(
	site: Site,
	snapshot: SnapshotMeta,
	{ repo }: BwrapInputs,
	call: Call,
): Promise<WorkspaceSource> {
	if (repo !== undefined)
		throw new SandboxerError({
			code: "invalid",
			message: `inputs.repo is given, but the workspace comes out of snapshot ${snapshot.snapshot_id}.`,
			hint: "Leave out one of them.",
			details: { field: "inputs.repo" },
		});
	const archive = await inspected(site, snapshot, call);
	return {
		async fill(workspace, record, { signal, progress }) {
			progress(`restoring snapshot ${snapshot.snapshot_id}`);
			if (record.own_uid !== undefined) await chown(workspace, record.own_uid, record.own_uid);
			const confinement = tarConfinement(site.programs(), record, workspace, "write");
			await archive.unpack({ path: site.path, confinement, directory: TAR_DIRECTORY }, signal);
			// The archive's own top folder has given it the mode of the source's.
			await chmod(workspace, 0o700);
		},
		close: () => archive.close(),
	};
}

async function inspected(
	site: Site,
	{ extension, snapshot_id, sha256 }: SnapshotMeta,
	{ progress, signal }: Call,
): Promise<InspectedArchive> {
	if (extension !== "ext.bwrap")
		throw new SandboxerError({
			code: "unsupported",
			message: `Snapshot ${snapshot_id} was taken by ${extension}, and ext.bwrap restores its own only.`,
			hint: `Restore it with a profile of ${extension}.`,
		});
	const store = storeOf(site);
	const stored = await store.find(snapshot_id);
	if (stored === undefined)
		throw new SandboxerError({
			code: "gone",
			message: `There is no snapshot ${snapshot_id} in ${store.directory} on this machine.`,
			hint: "It was removed, or is kept elsewhere: sandboxer snapshots lists what there is; sandboxer:bwrap.snapshot_dir says where.",
			details: { snapshot_id },
		});
	if (stored.sha256 !== sha256) throw another(store, stored);
	progress(`inspecting snapshot ${snapshot_id}`);
	return store.inspect(stored, { limits: DEFAULT_LIMITS, directory: site.base, signal });
}
