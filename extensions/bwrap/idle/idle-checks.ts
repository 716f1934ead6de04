import { dirname } from "node:path";
import type { Call } from "../../../provider/contract";
import { run } from "../../../provider/transport";
import type { Programs } from "../preflight";
import type { Check } from "../probes/checks";
import type { BwrapRecord } from "../record";
import { countedSockets } from "./idle-limit";

/** That a sandbox's activity can be measured, where its record has an idle limit: what cannot be is taken for none. */
export async function idleChecks(
	programs: Programs,
	record: BwrapRecord,
	directory: string,
	{ signal, timeoutSeconds }: Call,
): Promise<Check[]> {
	if (record.idle_seconds === undefined) return [];
	const script = 'folder=$1 init=$2 sockets=$3 uid=$4; . "$folder/measure"';
	const args = ["-c", script, "measure", directory, String(record.init?.pid), ...countedSockets(record).split(" ")];
	const env = { PATH: dirname(programs.sleep) };
	const { stdout, stderr } = await run(programs.sh, args, { env, signal, timeoutSeconds });
	return [
		{
			control: "idle",
			holds: /^\d+ \d+ \d+\n$/.test(stdout),
			failed: `its activity cannot be measured: ${stderr.trim() || "its processes in /proc cannot be read"}`,
		},
	];
}
