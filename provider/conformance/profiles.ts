import type { ProfileDocument } from "../documents/profile";
import type { ConformanceAdapter } from "./adapter";

/** Of the sandboxes that cases fill, in MiB. */
const MEMORY_MB = 64;

/** The adapter's profile, and credentials that it declares. */
export function declaringProfile({ profile }: ConformanceAdapter): ProfileDocument {
	return { ...profile, setup: { ...profile.setup, secret_refs: ["DECLARED"] } };
}

/** With a memory limit. */
export function limitedProfile({ profile }: ConformanceAdapter): ProfileDocument {
	return { ...profile, resources: { ...profile.resources, memory_mb: MEMORY_MB } };
}
