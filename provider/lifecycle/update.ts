import type { Call, Lease } from "../contract";
import { SandboxerError } from "../errors";
import { durationSeconds } from "../lease/duration";
import { leaseSeconds, leaseTerms } from "../lease/lease-seconds";
import { utcMilliseconds } from "../lease/utc";
import { type Backend, callOf, DEFAULT_TIMEOUT_SECONDS } from "./backend";
import { attributionOf, create } from "./create";
import type { SandboxInputs } from "./inputs";
import { restamped, type SandboxOutputs } from "./outputs";
import { isEqual } from "./replacing";

/** Changes what can be changed in place; goes on with a create whose wait failed. */
export async function update(backend: Backend, olds: SandboxOutputs, news: SandboxInputs): Promise<SandboxOutputs> {
	if (olds.phase === "waiting") return create(backend, news, { resumes: olds.handle });
	if (olds.phase !== "ready") return restamped(news, olds);
	const { update: limit } = news.timeouts;
	const call = callOf(backend, (limit === undefined ? undefined : durationSeconds(limit)) ?? DEFAULT_TIMEOUT_SECONDS);
	let outputs = restamped(news, olds);
	if (changesLease(backend, olds, news)) {
		backend.progress(`lease of ${news.ttl}`);
		outputs = { ...outputs, lease: await changedLease(backend, outputs, olds, news, call) };
		// An idle limit is a control: it is proved as at create.
		if (leaseTerms(olds.profile.ttl).idleSeconds !== leaseTerms(news.profile.ttl).idleSeconds)
			outputs = { ...outputs, controls: (await backend.extension.waitReady(olds.handle, call)).controls };
	}
	// Last: once it is done the old handle means nothing, so nothing may fail after it.
	if (!isEqual(attributionOf(news), attributionOf(olds))) {
		backend.progress("writing owner and labels");
		outputs = { ...outputs, handle: await backend.extension.claim(olds.handle, attributionOf(news), call) };
	}
	return outputs;
}

type Asked = Pick<SandboxInputs, "ttl" | "profile">;

/** Where a backend cannot change a lease, another ttl has replaced the sandbox, and the profile's terms wait for the next. */
function changesLease({ extension }: Backend, olds: Asked, news: Asked): boolean {
	const asked = (inputs: Asked) => ({ seconds: secondsOf(inputs), terms: leaseTerms(inputs.profile.ttl) });
	return extension.supportsLeaseExtension() && !isEqual(asked(olds), asked(news));
}

function secondsOf({ ttl, profile }: Asked): number {
	return leaseSeconds(ttl, profile.ttl).seconds;
}

async function changedLease(
	backend: Backend,
	{ handle, lease }: SandboxOutputs,
	olds: Asked,
	news: SandboxInputs,
	call: Call,
): Promise<Lease> {
	const readyAt = lease === undefined ? undefined : utcMilliseconds(lease.readyAt);
	if (lease === undefined || readyAt === undefined) {
		throw new SandboxerError({
			code: "unknown",
			message: `The lease of sandbox ${news.sandboxId} is not known: ready at ${JSON.stringify(lease?.readyAt ?? null)}, which is no time in UTC.`,
			hint: "Nothing was changed. Run pulumi refresh first.",
		});
	}
	// Another lease that was agreed on since, as by `sandboxer extend`, stays where only the terms change.
	const asked =
		secondsOf(olds) === secondsOf(news) ? undefined : new Date(readyAt + secondsOf(news) * 1000).toISOString();
	const terms = leaseTerms(news.profile.ttl);
	const granted = await backend.extension.extendLease(handle, asked, { ...call, terms });
	if (asked !== undefined && utcMilliseconds(granted) !== Date.parse(asked))
		backend.info(`the lease ends at ${granted}, not at ${asked}: it was cut to the longest one`);
	return { readyAt: lease.readyAt, expiresAt: granted };
}
