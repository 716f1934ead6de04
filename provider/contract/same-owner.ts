import type { Owner } from "./types";

/** Whether two owners are the same resource of the same stack. */
export function isSameOwner(a: Owner, b: Owner): boolean {
	return a.scope === b.scope && a.project === b.project && a.stack === b.stack && a.urn === b.urn;
}
