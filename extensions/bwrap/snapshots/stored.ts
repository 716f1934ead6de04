import type { CleanupReport, SnapshotMeta } from "../../../provider/contract";
import { SandboxerError } from "../../../provider/errors";
import { type Manifest, SnapshotStore } from "../../../provider/snapshots";
import type { Site } from "../site";

/** The snapshots of this machine. */
export function storeOf(site: Site): SnapshotStore {
	return new SnapshotStore(site.snapshots, site.path, () => site.now());
}

/** A manifest as it goes into outputs, with where its archive is. */
export function toMeta(store: SnapshotStore, manifest: Manifest): SnapshotMeta {
	const { manifest_version: _version, owner, expires_at, ...facts } = manifest;
	return {
		...facts,
		...(expires_at === undefined ? {} : { expires_at }),
		...(owner === undefined ? {} : { owner }),
		archive: store.archive(facts.snapshot_id),
	};
}

/** Those of a sandbox, or all. */
export async function storedSnapshots(
	site: Site,
	{ sandboxId }: { readonly sandboxId?: string },
): Promise<SnapshotMeta[]> {
	const store = storeOf(site);
	const all = await store.list();
	return all
		.filter(({ sandbox_id }) => sandboxId === undefined || sandbox_id === sandboxId)
		.map((one) => toMeta(store, one));
}

/** Removes one, unless another stands under its id by now. */
export async function removeSnapshot(site: Site, { snapshot_id, sha256 }: SnapshotMeta): Promise<CleanupReport> {
	const store = storeOf(site);
	const folder = store.folder(snapshot_id);
	const stored = await store.find(snapshot_id);
	if (stored === undefined) return { found: [], removed: [], remains: [] };
	if (stored.sha256 !== sha256) throw another(store, stored);
	await store.remove(snapshot_id);
	return { found: [`snapshot ${folder}`], removed: [`snapshot ${folder}`], remains: [] };
}

/** That what is stored under an id is not what was meant. */
export function another(store: SnapshotStore, { snapshot_id, created_at }: Manifest): SandboxerError {
	return new SandboxerError({
		code: "conflict",
		message: `Snapshot ${snapshot_id} in ${store.directory} is another one, taken at ${created_at}.`,
		hint: "It was not touched. Use the data of the one that is there: sandboxer snapshots --json.",
		details: { snapshot_id },
	});
}
