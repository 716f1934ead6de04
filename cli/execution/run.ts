import type { ExecuteOptions } from "../../provider/contract";
import type { Invocation, Result } from "../command-line/command";
import type { Found } from "../place/find";
import { exitOfEnd } from "./exit";
import { passOn } from "./pass-on";

/** Runs a command to its end: its output is passed on, or with `--json` collected. */
export async function runToEnd(
	{ extension, handle }: Found,
	argv: readonly string[],
	options: ExecuteOptions,
	{ json, streams, signal }: Pick<Invocation, "json" | "streams" | "signal">,
): Promise<Result> {
	const shown = json ? {} : { maxOutputBytes: 0, onOutput: passOn(streams) };
	const result = await extension.execute(handle, argv, { ...options, ...shown }, { signal });
	const document = { sandboxId: handle.sandbox_id, extension: handle.extension, ...result };
	return { document, exit: exitOfEnd(result) };
}
