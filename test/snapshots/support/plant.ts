import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../../../provider/snapshots";

const SCRIPT = join(__dirname, "..", "make-tars.py");

/** Makes the archives of make-tars.py, each a snapshot's folder without a manifest. */
export function makeArchives(folder: string, ...options: "--without-bomb"[]): void {
	execFileSync("python3", [SCRIPT, folder, ...options]);
}

/** The manifest of a snapshot of nobody, taken of nothing. */
export function aManifest(changes: Partial<Manifest> = {}): Manifest {
	return {
		manifest_version: 1,
		extension: "ext.bwrap",
		snapshot_id: "planted",
		kind: "workspace",
		sandbox_id: "box",
		generation: 1,
		profile: { id: "profile.test", version: "1" },
		created_at: "2026-01-01T00:00:00.000Z",
		size_bytes: 0,
		sha256: "0".repeat(64),
		sums_sha256: "0".repeat(64),
		file_count: 0,
		unpacked_bytes: 0,
		consistent: true,
		changed: [],
		changed_count: 0,
		left_out: [],
		left_out_count: 0,
		labels: {},
		...changes,
	};
}

/** Gives one of make-tars.py's folders a manifest that fits it, so that only its members can be at fault. */
export function plantManifest(folder: string, snapshotId: string, changes: Partial<Manifest> = {}): Manifest {
	const archive = readFileSync(join(folder, "archive.tar.gz"));
	const sums = readFileSync(join(folder, "files.jsonl"));
	const counts = JSON.parse(readFileSync(join(folder, "counts.json"), "utf8")) as Partial<Manifest>;
	const manifest = aManifest({
		snapshot_id: snapshotId,
		size_bytes: archive.length,
		sha256: createHash("sha256").update(archive).digest("hex"),
		sums_sha256: createHash("sha256").update(sums).digest("hex"),
		...counts,
		...changes,
	});
	writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
	return manifest;
}
