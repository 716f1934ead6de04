import { createHash } from "node:crypto";

/** The name of a sandbox's control groups: two state folders of one machine may hold the same id. */
export function cgroupName(directory: string, sandboxId: string): string {
	return `sandboxer-${sandboxId}-${createHash("sha256").update(directory).digest("hex").slice(0, 8)}`;
}
