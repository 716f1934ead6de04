/**
 * The steps of create and delete at which a kill matters, in order. A test stops the process at one of
 * them and kills it; the crash matrix fails where it leaves one out.
 */
export const CHECKPOINTS = [
	"create:start",
	"provision:locked",
	"provision:record-written",
	"provision:workspace-copied",
	"provision:limits-made",
	"provision:spawned",
	"provision:started",
	"provision:recorded",
	"create:provisioned",
	"wait:probed",
	"create:ready",
	"delete:start",
	"teardown:locked",
	"teardown:processes-ended",
	"teardown:limits-removed",
	"teardown:directory-removed",
	"delete:done",
] as const;

export type Checkpoint = (typeof CHECKPOINTS)[number];

const HOOK = Symbol.for("pulumi-sandboxer.checkpoint");

/**
 * Marks a step where a kill matters. Does nothing, unless a test has put a hook at
 * `globalThis[Symbol.for("pulumi-sandboxer.checkpoint")]`.
 */
export async function checkpoint(name: Checkpoint): Promise<void> {
	const hook = (globalThis as { [HOOK]?: (name: Checkpoint) => Promise<void> })[HOOK];
	if (hook !== undefined) await hook(name);
}
