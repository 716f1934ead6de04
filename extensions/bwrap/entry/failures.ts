import type { Command } from "../../../provider/contract";
import { errnoOf, SandboxerError } from "../../../provider/errors";
import { INSIDE_ENVIRONMENT } from "../holder/command";
import type { BwrapRecord } from "../record";
import { WRONG_SANDBOX } from "./entry-command";

/** A caller who is neither the one that made the sandbox nor root. */
export function notTheirs({ sandbox_id, maker_uid }: BwrapRecord, uid: number | undefined): SandboxerError {
	return new SandboxerError({
		code: "conflict",
		message: `Sandbox ${sandbox_id} was made by user id ${maker_uid}; user id ${uid} may not enter it.`,
		hint: "Run as that user, or as root.",
	});
}

export function notRunning({ sandbox_id }: BwrapRecord): SandboxerError {
	return new SandboxerError({
		code: "remains",
		message: `Sandbox ${sandbox_id} does not run any more.`,
		hint: "pulumi refresh, then pulumi up, makes it again.",
	});
}

/** A command that the gate refused, by its word. */
export function refused(
	{ sandbox_id }: BwrapRecord,
	{ argv: [program = ""], env }: Command,
	reason: "missing" | "forbidden",
): SandboxerError {
	const fact = reason === "missing" ? "is not there" : "is no program that may be run";
	return new SandboxerError({
		code: "not-started",
		message: `The command ${JSON.stringify(program)} could not be started in sandbox ${sandbox_id}: it ${fact}.`,
		hint: `Inside, programs are looked for on PATH (${env["PATH"] ?? INSIDE_ENVIRONMENT.PATH}); one of the workspace needs its path, such as ./build.sh.`,
		details: { sandbox_id, reason },
	});
}

/**
 * A command whose way in ended before the gate.
 *
 * @param said - What stood on standard error.
 */
export function notEntered(
	{ sandbox_id }: BwrapRecord,
	{ argv: [program = ""] }: Command,
	{ exitCode, killed, said }: { readonly exitCode: number; readonly killed: boolean; readonly said: string },
): SandboxerError {
	if (exitCode === WRONG_SANDBOX) {
		return new SandboxerError({
			code: "conflict",
			message: `The process that sandbox ${sandbox_id} had is now another sandbox's, or another life of it. Nothing was run.`,
			hint: "pulumi refresh tells what is there.",
			details: { sandbox_id },
		});
	}
	const words = said.trim().split("\n").slice(-3).join(" ");
	const isFolder = /Can't chdir to /.test(words);
	return new SandboxerError({
		code: isFolder ? "not-started" : "unknown",
		message: `The command ${JSON.stringify(program)} could not be started in sandbox ${sandbox_id}: ${words === "" ? `the way in ended with ${exitCode}` : words}.`,
		hint: isFolder
			? "executionContext.cwd names a folder of the workspace that is there."
			: "Nothing was run. Where the sandbox's memory or processes are used up, make room, then try again.",
		details: { sandbox_id, killed },
	});
}

export function stopped({ sandbox_id }: BwrapRecord): SandboxerError {
	return new SandboxerError({
		code: "aborted",
		message: `A command in sandbox ${sandbox_id} was ended, because the caller went away or asked to stop.`,
		details: { sandbox_id },
	});
}

export function ended({ sandbox_id }: BwrapRecord): SandboxerError {
	return new SandboxerError({
		code: "gone",
		message: `Sandbox ${sandbox_id} ended, and the command in it.`,
		hint: "Its lease was over, or it was removed; pulumi up makes it again.",
		details: { sandbox_id },
	});
}

export function unspawned({ sandbox_id }: BwrapRecord, cause: unknown): SandboxerError {
	const errno = errnoOf(cause) ?? String(cause);
	return new SandboxerError({
		code: errno === "E2BIG" ? "not-started" : "unknown",
		message: `A command in sandbox ${sandbox_id} could not be started (${errno}).`,
		hint:
			errno === "E2BIG"
				? "Its words are too long for one command line: hand them over on stdin or in a file."
				: "Try again.",
		details: { sandbox_id },
		cause,
	});
}
