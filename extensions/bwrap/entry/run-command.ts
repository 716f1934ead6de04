import type { Call, Command, CommandEnd, Handle } from "../../../provider/contract";
import { SandboxerError } from "../../../provider/errors";
import { noteActivity } from "../idle/idle-limit";
import { liveSandbox } from "../live-sandbox";
import { identityOf } from "../liveness";
import type { Site } from "../site";
import { runEntry } from "./run-entry";

/** Runs a command in the sandbox that a handle names, once it is certain that it names the live one. */
export async function runCommand(
	site: Site,
	unchecked: Handle,
	command: Command,
	{ signal, timeoutSeconds }: Call,
): Promise<CommandEnd> {
	const { handle, record, directory } = await liveSandbox(site, unchecked);
	const [named, real] = [identityOf(handle), record.supervisor];
	if (
		real === undefined ||
		named?.pid !== real.pid ||
		named.start_ticks !== real.start_ticks ||
		named.boot_id !== real.boot_id
	) {
		throw new SandboxerError({
			code: "conflict",
			message: `The handle of sandbox ${handle.sandbox_id} names another process (${named?.pid ?? "none"}) than the one that holds it.`,
			hint: "Nothing was run. Take the handle from the stack's outputs, after pulumi refresh.",
			details: { sandbox_id: handle.sandbox_id },
		});
	}
	await noteActivity(directory);
	return runEntry({ programs: site.programs(), record, command, signal, timeoutSeconds });
}
