import { SandboxerError } from "../errors";
import type { Located, Owner } from "./types";

/** Whether two owners are the same resource of the same stack. */
export function isSameOwner(a: Owner, b: Owner): boolean {
	return a.scope === b.scope && a.project === b.project && a.stack === b.stack && a.urn === b.urn;
}

/** @throws SandboxerError `conflict` unless a located sandbox is held for the stack. */
export function assertHeldFor(
	sandboxId: string,
	stack: Pick<Owner, "scope" | "project" | "stack">,
	located: readonly Located[],
): void {
	const [found] = located;
	const isHeld =
		found !== undefined &&
		found.owner.scope === stack.scope &&
		found.owner.project === stack.project &&
		found.owner.stack === stack.stack;
	if (isHeld) return;
	throw new SandboxerError({
		code: found === undefined ? "gone" : "conflict",
		message:
			found === undefined
				? `Sandbox ${sandboxId} is gone.`
				: `Sandbox ${sandboxId} belongs to stack ${found.owner.project}/${found.owner.stack}, not to ${stack.project}/${stack.stack}.`,
		hint: "Nothing was run. Only the stack that holds a sandbox declares what runs in it; elsewhere use openSandbox or sandboxer exec.",
		details: { sandbox_id: sandboxId },
	});
}
