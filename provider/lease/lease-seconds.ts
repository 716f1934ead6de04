import { SandboxerError } from "../errors";
import { DURATION_RULE, durationSeconds } from "./duration";

/** The length of a lease, and whether the profile's maximum cut it. */
export interface LeaseLength {
	readonly seconds: number;
	/** The request asked for more than `ttl.max`; the outputs say so. */
	readonly capped: boolean;
}

/**
 * The length of a lease from what was asked for (a duration; none: the profile's default) and the
 * profile's `ttl`. What is above the maximum is cut to it.
 *
 * @throws SandboxerError `invalid` where a text is no duration.
 *
 * @example
 * ```ts
 * leaseSeconds("25h", { default: "1h", max: "24h" }); // { seconds: 86_400, capped: true }
 * ```
 */
export function leaseSeconds(
	requested: string | null | undefined,
	ttl: { readonly default: string; readonly max: string },
): LeaseLength {
	const asked = secondsOf("ttl", requested ?? ttl.default);
	const max = secondsOf("profile.ttl.max", ttl.max);
	return asked > max ? { seconds: max, capped: true } : { seconds: asked, capped: false };
}

/**
 * What a profile's `ttl` says of leases, in seconds.
 *
 * @throws SandboxerError `invalid` where a text is no duration.
 */
export function leaseTerms({ max, idle_reap }: { readonly max: string; readonly idle_reap?: string | undefined }): {
	readonly maxSeconds: number;
	readonly idleSeconds?: number;
} {
	return {
		maxSeconds: secondsOf("profile.ttl.max", max),
		...(idle_reap === undefined ? {} : { idleSeconds: secondsOf("profile.ttl.idle_reap", idle_reap) }),
	};
}

function secondsOf(field: string, text: string): number {
	const seconds = durationSeconds(text);
	if (seconds !== undefined) return seconds;
	throw new SandboxerError({
		code: "invalid",
		message: `${field} ${JSON.stringify(text)} ${DURATION_RULE}.`,
		details: { field },
	});
}
