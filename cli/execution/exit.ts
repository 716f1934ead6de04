import { constants } from "node:os";
import type { SandboxerError } from "../../provider/errors";
import { EXIT } from "../command-line/exit";

/** The exit status for a command's end. */
export function exitOfEnd({
	exitCode,
	timedOut,
}: {
	readonly exitCode: number | null;
	readonly timedOut: boolean;
}): number {
	if (timedOut) return EXIT.timeLimit;
	return exitCode ?? 128 + constants.signals.SIGKILL;
}

/** The exit status where the command did not run to its end. */
export function exitOfError({ code, details }: Pick<SandboxerError, "code" | "details">): number {
	if (code !== "not-started") return EXIT.ownFailure;
	return details.reason === "missing" ? EXIT.notThere : EXIT.notRunnable;
}
