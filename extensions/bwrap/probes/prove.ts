import type { Call, Controls } from "../../../provider/contract";
import { hasCode, SandboxerError } from "../../../provider/errors";
import { enter } from "../entry/enter";
import { KILLED } from "../entry/run-entry";
import { idleChecks } from "../idle/idle-checks";
import type { BwrapRecord } from "../record";
import type { Site } from "../site";
import { parseInsideFacts } from "./inside-facts";
import { judge, notProbed } from "./judge";
import { outsideFacts } from "./outside-facts";
import { PROBE } from "./probe";

/** Proves the controls of a running sandbox, from inside and from outside. */
export async function prove(
	{ programs: found, probes }: Pick<Site, "programs" | "probes">,
	record: BwrapRecord,
	directory: string,
	call: Call,
): Promise<Controls> {
	const programs = found();
	const { signal, timeoutSeconds } = call;
	const started = await probes.take(directory);
	const entered = enter({ programs, record, argv: PROBE, started, signal, timeoutSeconds }).catch((thrown: unknown) => {
		if (hasCode(thrown, "unknown") || hasCode(thrown, "conflict")) return thrown;
		throw thrown;
	});
	const [inside, outside, measured] = await Promise.all([
		entered,
		outsideFacts(record),
		idleChecks(programs, record, directory, call),
	]);
	if (inside instanceof SandboxerError) {
		if (inside.details.killed === true) throw unprobed(record, inside.message);
		throw notProbed(record, inside.message, outside);
	}
	if (inside.timedOut) throw unprobed(record, `the probe did not end within ${timeoutSeconds} s`);
	if (inside.exitCode === KILLED)
		throw unprobed(record, "the probe was ended by SIGKILL, as where the sandbox's memory is used up");
	if (inside.exitCode !== 0) {
		const why = inside.stderr.trim().split("\n").slice(-3).join(" ");
		throw notProbed(record, `exit code ${inside.exitCode}: ${why}`, outside);
	}
	return judge(record, parseInsideFacts(inside.stdout), outside, measured);
}

/** No verdict on its controls: a sandbox whose memory is used up must not be taken for an altered one. */
function unprobed({ sandbox_id }: BwrapRecord, why: string): SandboxerError {
	return new SandboxerError({
		code: "unknown",
		message: `Sandbox ${sandbox_id} could not be probed: ${why}.`,
		hint: "It was left alone. Make room in it (its /tmp, /dev/shm and home are memory), then try again.",
		details: { sandbox_id },
	});
}
