import type { BwrapRecord } from "../../../../extensions/bwrap/record";

/** The record of a sandbox that is ready. */
export function aRecord(changes: Partial<BwrapRecord> = {}): BwrapRecord {
	return {
		record_version: 1,
		sandbox_id: "box",
		generation: 1,
		claim: 1,
		owner: { scope: "s", project: "p", stack: "s", urn: "u" },
		labels: {},
		digest: "d",
		profile: { id: "profile.test", version: "1" },
		credential_routes: [],
		phase: "ready",
		maker_uid: 0,
		network: "deny",
		access: "rw",
		resources: {},
		cgroups: [],
		created_at: "2026-01-01T00:00:00.000Z",
		ttl_seconds: 60,
		max_ttl_seconds: 3600,
		...changes,
	};
}
