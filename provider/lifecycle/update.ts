import type { Call, Lease } from "../contract";
import { SandboxerError } from "../errors";
import { durationSeconds } from "../lease/duration";
import { leaseSeconds } from "../lease/lease-seconds";
import { type Backend, callOf, DEFAULT_TIMEOUT_SECONDS } from "./backend";
import { attributionOf, create } from "./create";
import type { SandboxInputs } from "./inputs";
import { restamped, type SandboxOutputs } from "./outputs";
import { isEqual } from "./replacing";

/** Changes what can be changed in place; goes on with a create whose wait failed. */
export async function update(backend: Backend, olds: SandboxOutputs, news: SandboxInputs): Promise<SandboxOutputs> {
	if (olds.phase === "waiting") return create(backend, news, olds.handle);
	if (olds.phase !== "ready") return restamped(news, olds);
	const { update: limit } = news.timeouts;
	const call = callOf(backend, (limit === undefined ? undefined : durationSeconds(limit)) ?? DEFAULT_TIMEOUT_SECONDS);
	let outputs = restamped(news, olds);
	if (!isSameLease(olds, news)) {
		backend.progress(`lease of ${news.ttl}`);
		outputs = { ...outputs, lease: await extended(backend, outputs, news, call) };
	}
	// Last: once it is done the old handle means nothing, so nothing may fail after it.
	if (!isEqual(attributionOf(news), attributionOf(olds))) {
		backend.progress("writing owner and labels");
		outputs = { ...outputs, handle: await backend.extension.claim(olds.handle, attributionOf(news), call) };
	}
	return outputs;
}

function isSameLease(
	olds: Pick<SandboxInputs, "ttl" | "profile">,
	news: Pick<SandboxInputs, "ttl" | "profile">,
): boolean {
	return leaseSeconds(olds.ttl, olds.profile.ttl).seconds === leaseSeconds(news.ttl, news.profile.ttl).seconds;
}

async function extended(
	backend: Backend,
	{ handle, lease }: SandboxOutputs,
	{ ttl, profile, sandboxId }: SandboxInputs,
	call: Call,
): Promise<Lease> {
	if (lease === undefined) {
		throw new SandboxerError({
			code: "unknown",
			message: `The lease of sandbox ${sandboxId} is not known.`,
			hint: "Run pulumi refresh first.",
		});
	}
	const expiresAt = new Date(Date.parse(lease.readyAt) + leaseSeconds(ttl, profile.ttl).seconds * 1000).toISOString();
	return { readyAt: lease.readyAt, expiresAt: await backend.extension.extendLease(handle, expiresAt, call) };
}
