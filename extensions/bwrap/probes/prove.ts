import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Call, Controls } from "../../../provider/contract";
import { SandboxerError } from "../../../provider/errors";
import { enter, WRONG_SANDBOX } from "../entry/enter";
import { idleChecks } from "../idle/idle-checks";
import type { Programs } from "../preflight";
import type { BwrapRecord } from "../record";
import { FORBIDDEN_PLACES } from "./checks";
import { parseInsideFacts } from "./inside-facts";
import { judge, notProbed } from "./judge";
import { outsideFacts } from "./outside-facts";

const PROBE = join(__dirname, "probe.sh");

/** bwrap's exit code for a command that was killed. */
const KILLED = 128 + 9;

/** Proves the controls of a running sandbox, from inside and from outside. */
export async function prove(programs: Programs, record: BwrapRecord, directory: string, call: Call): Promise<Controls> {
	const command = ["sh", "-c", readFileSync(PROBE, "utf8"), "probe", ...FORBIDDEN_PLACES];
	const [inside, outside, measured] = await Promise.all([
		enter({
			programs,
			record,
			directory,
			command,
			signal: call.signal,
			timeoutSeconds: call.timeoutSeconds,
			isProbe: true,
		}),
		outsideFacts(record),
		idleChecks(programs, record, directory, call),
	]);
	const signal = inside.signal ?? (inside.exitCode === KILLED ? "SIGKILL" : null);
	if (signal !== null) {
		// No verdict on its controls: a sandbox whose memory is used up must not be taken for an altered one.
		throw new SandboxerError({
			code: "unknown",
			message: `Sandbox ${record.sandbox_id} could not be probed: the probe was ended by ${signal}, as where the sandbox's memory is used up.`,
			hint: "It was left alone. Make room in it (its /tmp, /dev/shm and home are memory), then try again.",
			details: { sandbox_id: record.sandbox_id },
		});
	}
	if (inside.exitCode !== 0) {
		const why =
			inside.exitCode === WRONG_SANDBOX
				? "its id inside is another one"
				: inside.stderr.trim().split("\n").slice(-3).join(" ");
		throw notProbed(record, `exit code ${inside.exitCode}: ${why}`, outside);
	}
	return judge(record, parseInsideFacts(inside.stdout), outside, measured);
}
