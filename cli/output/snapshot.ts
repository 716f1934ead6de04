import type { SnapshotMeta } from "../../provider/contract";
import { bytes, moment } from "./times";

export const SNAPSHOT_HEAD = ["SNAPSHOT", "SANDBOX", "TAKEN", "KEPT UNTIL", "SIZE", "FILES", "CONSISTENT"];

export function snapshotRow(meta: SnapshotMeta, now: number): string[] {
	return [
		meta.snapshot_id,
		meta.sandbox_id,
		moment(meta.created_at, now),
		moment(meta.expires_at, now, "removed by hand"),
		bytes(meta.size_bytes),
		String(meta.file_count),
		meta.consistent ? "yes" : `no: ${meta.changed.join(", ")}`,
	];
}
