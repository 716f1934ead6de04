import { createHash } from "node:crypto";
import type { Owner } from "../contract";

const NAME_MAX = 40;

/**
 * The id of a sandbox that was given none: readable by the resource's name, the same for the same owner and
 * settings, so that a retry finds what an earlier run made.
 */
export function generatedId(owner: Owner, digest: string): string {
	const name = (owner.urn.split("::").at(-1) ?? "")
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.slice(0, NAME_MAX)
		.replace(/^-+|-+$/g, "");
	const hash = createHash("sha256")
		.update(JSON.stringify([owner.scope, owner.project, owner.stack, owner.urn, digest]))
		.digest("hex");
	return `${name === "" ? "sandbox" : name}-${hash.slice(0, 12)}`;
}
