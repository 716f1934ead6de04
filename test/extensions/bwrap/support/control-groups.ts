import { removeCgroups } from "../../../../extensions/bwrap/limits/cgroup";
import { cgroupName } from "../../../../extensions/bwrap/limits/cgroup-name";
import type { BwrapRecord } from "../../../../extensions/bwrap/record";

/** Removes the groups of a sandbox that a test has ended and taken the record of: nothing else knows of them then. */
export async function removeGroupsOf(
	directory: string,
	sandboxId: string,
	cgroups: BwrapRecord["cgroups"],
): Promise<void> {
	const remains = await removeCgroups(cgroupName(directory, sandboxId), cgroups, 10_000);
	if (remains.length > 0) throw new Error(`Still there: ${remains.join(", ")}.`);
}
