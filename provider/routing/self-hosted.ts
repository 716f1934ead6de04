import type { Json } from "../contract";

/** Route and quote of a profile that names one extension of one's own machines: no choice, no cost. */
export function selfHostedQuote(extension: string): { route: Json; quote: Json } {
	return {
		route: { strategy: "explicit", chosen: extension, reason: "the profile names it" },
		quote: { pricing: "self-hosted", perHourUsd: 0, forLeaseUsd: 0 },
	};
}
