import { randomInt } from "node:crypto";
import type { Profile, ProvisionRequest } from "../../provider/contract";
import { routeOf } from "../../provider/credentials";
import { SandboxerError } from "../../provider/errors";
import { leaseTerms } from "../../provider/lease/lease-seconds";
import type { Cgroup } from "./limits/cgroup";
import { OWN_UIDS } from "./own-uid";
import { type BwrapRecord, isHolder, parseHandle } from "./record";
import type { Site } from "./site";

/** The record of a sandbox that is about to be made. */
export function newRecord(
	site: Site,
	profile: Profile,
	request: ProvisionRequest,
	earlier: BwrapRecord | undefined,
	cgroups: readonly Cgroup[],
): BwrapRecord {
	const now = site.now();
	const { generation, claim } = numbers(now, request, earlier);
	const isRoot = process.getuid?.() === 0;
	const { cpu, memory_mb } = profile.resources;
	if (cpu !== undefined && !cgroups.some(({ controller }) => controller === "cpu" || controller === "all")) {
		throw new SandboxerError({
			code: "unsupported",
			message: `resources.cpu (${cpu}) cannot be enforced for sandbox ${request.sandboxId}: this process may not make a cpu control group on this machine.`,
			hint: "Leave resources.cpu out, run as root, or have the cpu controller delegated (systemd: Delegate=cpu memory pids).",
		});
	}
	return {
		record_version: 1,
		sandbox_id: request.sandboxId,
		generation,
		claim,
		owner: request.owner,
		...(request.consumer === undefined ? {} : { consumer: request.consumer }),
		labels: request.labels,
		digest: request.digest,
		profile: { id: profile.id, version: profile.version },
		credential_routes: (profile.setup?.secret_refs ?? []).map(routeOf),
		phase: "provisioning",
		maker_uid: process.getuid?.() ?? 0,
		...(isRoot ? { own_uid: randomInt(OWN_UIDS.first, OWN_UIDS.last + 1) } : {}),
		network: profile.network.default,
		access: profile.workspace.access,
		resources: { ...(cpu === undefined ? {} : { cpu }), ...(memory_mb === undefined ? {} : { memory_mb }) },
		cgroups: [...cgroups],
		created_at: new Date(now).toISOString(),
		ttl_seconds: request.ttlSeconds,
		...termsOf(profile),
	};
}

/** What the record keeps of a profile's lease. */
export function termsOf({ ttl }: Profile): Pick<BwrapRecord, "max_ttl_seconds" | "idle_seconds"> {
	const { maxSeconds, idleSeconds } = leaseTerms(ttl);
	return { max_ttl_seconds: maxSeconds, ...(idleSeconds === undefined ? {} : { idle_seconds: idleSeconds }) };
}

/**
 * Which life of the id, and which holder of it. An unfinished create goes on under its own number. So does one
 * whose handle is in a state already: if this run is killed, that handle is all that a destroy will have. A
 * first life takes the time as its number, so that it differs from that of any life whose record is gone.
 */
function numbers(
	now: number,
	{ resumes }: ProvisionRequest,
	earlier: BwrapRecord | undefined,
): Pick<BwrapRecord, "generation" | "claim"> {
	if (resumes !== undefined && (earlier === undefined || isHolder(parseHandle(resumes), earlier)))
		return parseHandle(resumes);
	if (earlier?.phase === "provisioning") return { generation: earlier.generation, claim: earlier.claim + 1 };
	return { generation: earlier === undefined ? now : Math.max(now, earlier.generation + 1), claim: 1 };
}

/** Whether the handle in the state is of this very life and holder. */
export function isResumed({ resumes }: ProvisionRequest, record: BwrapRecord): boolean {
	return resumes !== undefined && isHolder(parseHandle(resumes), record);
}
