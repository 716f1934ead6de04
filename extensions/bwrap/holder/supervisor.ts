import type { ProcessIdentity } from "../../../provider/identity";
import { readSaid } from "./read-said";

/**
 * Who the supervisor is, as it wrote itself before it started anything: its boot id and its line of
 * /proc/PID/stat. Undefined where it has not come that far: then nothing was started.
 */
export async function readSupervisor(file: string): Promise<ProcessIdentity | undefined> {
	const text = await readSaid(file);
	if (text === undefined) return undefined;
	const [, boot, pid, rest] = /^(\S+) (\d+) \(.*\) (.*)$/s.exec(text.trim()) ?? [];
	const startTicks = rest?.split(" ")[19];
	if (boot === undefined || pid === undefined || startTicks === undefined) return undefined;
	return { boot_id: boot, pid: Number(pid), start_ticks: Number(startTicks) };
}
