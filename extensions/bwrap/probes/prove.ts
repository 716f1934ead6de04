import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Call, Controls } from "../../../provider/contract";
import { SandboxerError } from "../../../provider/errors";
import { enter, WRONG_SANDBOX } from "../entry/enter";
import type { Programs } from "../preflight";
import type { BwrapRecord } from "../record";
import { parseInsideFacts } from "./inside-facts";
import { FORBIDDEN_PLACES, judge } from "./judge";
import { outsideFacts } from "./outside-facts";

const PROBE = join(__dirname, "probe.sh");

/** Proves the controls of a running sandbox, from inside and from outside. */
export async function prove(programs: Programs, record: BwrapRecord, directory: string, call: Call): Promise<Controls> {
	const command = ["sh", "-c", readFileSync(PROBE, "utf8"), "probe", ...FORBIDDEN_PLACES];
	const [inside, outside] = await Promise.all([
		enter({ programs, record, directory, command, signal: call.signal, timeoutSeconds: call.timeoutSeconds }),
		outsideFacts(record),
	]);
	if (inside.exitCode !== 0) {
		const why =
			inside.exitCode === WRONG_SANDBOX
				? "its id inside is another one"
				: inside.stderr.trim().split("\n").slice(-3).join(" ");
		throw new SandboxerError({
			code: "control",
			message: `Sandbox ${record.sandbox_id} could not be probed (exit code ${inside.exitCode}): ${why}.`,
			hint: "It was not handed out. Try again; if it stays so, run sandboxes as another user or on another machine.",
			details: { sandbox_id: record.sandbox_id },
		});
	}
	return judge(record, parseInsideFacts(inside.stdout), outside);
}
