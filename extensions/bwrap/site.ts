import { join } from "node:path";
import type { ProcessTable } from "../../provider/identity";
import { type LockOptions, withLock } from "../../provider/records";
import { assertWithin, sandboxDirectory } from "../../provider/workspace";
import type { Programs } from "./preflight";
import type { StartedProbes } from "./probes/started-probes";
import type { BwrapHandle } from "./record";

/** Where and with what the sandboxes of this machine are made. */
export interface Site {
	/** Holds one folder a sandbox. */
	readonly base: string;
	/** Holds one folder a snapshot. */
	readonly snapshots: string;
	readonly path: string;
	readonly table: ProcessTable;
	/** Looked up when first used: a destroy of nothing needs no bwrap. */
	programs(): Programs;
	readonly probes: StartedProbes;
	/** The file of the clock that leases are counted by: /proc/uptime. */
	readonly clock: string;
	/** Milliseconds since 1970, UTC. */
	now(): number;
}

/** What the name of a lock begins with; no sandbox id begins with a dot. */
export const LOCK = ".lock-";

export function lockFile(site: Site, sandboxId: string): string {
	return join(site.base, `${LOCK}${sandboxId}`);
}

/**
 * Works on one sandbox while nobody else does.
 *
 * @param take - As of `withLock`.
 */
export function lockSandbox<T>(
	site: Site,
	sandboxId: string,
	{ signal, timeoutSeconds }: { signal: AbortSignal; timeoutSeconds: number },
	work: () => Promise<T>,
	take?: LockOptions["take"],
): Promise<T> {
	return withLock(
		lockFile(site, sandboxId),
		{
			what: `Sandbox ${sandboxId}`,
			signal,
			timeoutSeconds: Math.ceil(timeoutSeconds),
			path: site.path,
			...(take === undefined ? {} : { take }),
		},
		work,
	);
}

/** The folder of the sandbox that a handle names, if it is where its id says. */
export function directoryOf(
	site: Site,
	{ sandbox_id, remote_dir }: Pick<BwrapHandle, "sandbox_id" | "remote_dir">,
): string {
	assertWithin(
		site.base,
		sandbox_id,
		remote_dir,
		"the state folder (sandboxer:bwrap.state_dir or SANDBOXER_STATE_DIR)",
	);
	return sandboxDirectory(site.base, sandbox_id);
}
