import { type CleanupReport, checkpoint } from "../contract";
import { SandboxerError } from "../errors";
import { durationSeconds } from "../lease/duration";
import { type Backend, callOf, DEFAULT_TIMEOUT_SECONDS } from "./backend";
import type { SandboxOutputs } from "./outputs";

/** Removes a sandbox. Succeeds only when nothing of it is left; that there was nothing is fine too. */
export async function remove(backend: Backend, olds: SandboxOutputs): Promise<void> {
	await checkpoint("delete:start");
	const limit = olds.timeouts.delete;
	backend.progress("removing");
	const report = await backend.extension.teardown(
		olds.handle,
		callOf(backend, (limit === undefined ? undefined : durationSeconds(limit)) ?? DEFAULT_TIMEOUT_SECONDS),
	);
	assertRemoved(olds.sandboxId, report);
	if (report.found.length === 0) backend.info(`sandbox ${olds.sandboxId} was already gone`);
	await checkpoint("delete:done");
}

export function assertRemoved(sandboxId: string, { remains }: CleanupReport): void {
	if (remains.length === 0) return;
	throw new SandboxerError({
		code: "remains",
		message: `Sandbox ${sandboxId} could not be removed whole; still there: ${remains.join(", ")}.`,
		hint: "Remove what holds it, and run pulumi destroy again: the state keeps it until then.",
		details: { sandbox_id: sandboxId, remains },
	});
}
