import { join } from "node:path";
import type { ProcessTable } from "../../provider/identity";
import { type HeldLock, withLock } from "../../provider/records";
import type { Programs } from "./preflight";

/** Where and with what the sandboxes of this machine are made. */
export interface Site {
	/** Holds one folder a sandbox. */
	readonly base: string;
	readonly path: string;
	readonly table: ProcessTable;
	/** Looked up when first used: a destroy of nothing needs no bwrap. */
	programs(): Programs;
	/** Milliseconds since 1970, UTC. */
	now(): number;
}

/** Works on one sandbox while nobody else does. */
export function lockSandbox<T>(
	site: Site,
	sandboxId: string,
	{ signal, timeoutSeconds }: { signal: AbortSignal; timeoutSeconds: number },
	work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
	// No sandbox id begins with a dot.
	const file = join(site.base, `.lock-${sandboxId}`);
	return withLock(
		file,
		{ what: `Sandbox ${sandboxId}`, signal, timeoutSeconds: Math.ceil(timeoutSeconds), path: site.path },
		work,
	);
}
