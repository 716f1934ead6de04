import { readFileSync } from "node:fs";
import { z } from "zod";
import { hasErrno, SandboxerError } from "../errors";

/** A process, for good: its number alone is handed out anew, its number in one boot since one tick is not. */
export const processIdentitySchema = z.object({
	boot_id: z.string().min(1),
	/** As the kernel counts from here; 0 or less names no process. */
	pid: z.number().int(),
	/** Field 22 of /proc/PID/stat: clock ticks since boot. */
	start_ticks: z.number().int(),
});
export type ProcessIdentity = z.output<typeof processIdentitySchema>;

/** The processes of this machine, as /proc shows them. */
export class ProcessTable {
	constructor(
		private readonly proc = "/proc",
		private readonly send: (pid: number, signal: NodeJS.Signals) => void = (pid, signal) => process.kill(pid, signal),
	) {}

	/** The identity of a running process; undefined where there is none or it is a zombie. */
	identify(pid: number): ProcessIdentity | undefined {
		const stat = this.stat(pid);
		return stat === undefined ? undefined : { boot_id: this.bootId(), pid, start_ticks: stat.startTicks };
	}

	/** Whether exactly that process runs. A zombie does not: nothing of it is left but its number. */
	isAlive(identity: ProcessIdentity): boolean {
		if (identity.pid <= 1 || identity.boot_id !== this.bootId()) return false;
		return this.stat(identity.pid)?.startTicks === identity.start_ticks;
	}

	/**
	 * Sends a signal if exactly that process runs; says whether it did. Never to 0, 1 or a negative number.
	 *
	 * @param target - "group" for the process group it leads.
	 */
	signal(identity: ProcessIdentity, signal: NodeJS.Signals, target: "process" | "group" = "process"): boolean {
		if (!this.isAlive(identity)) return false;
		try {
			this.send(target === "group" ? -identity.pid : identity.pid, signal);
			return true;
		} catch (thrown) {
			if (hasErrno(thrown, "ESRCH")) return false;
			throw new SandboxerError({
				code: "unknown",
				message: `Process ${identity.pid} could not be signalled: ${thrown instanceof Error ? thrown.message : String(thrown)}.`,
				hint: "It was left alone. Run as the user that made the sandbox, or as root.",
				details: { pid: identity.pid },
				cause: thrown,
			});
		}
	}

	bootId(): string {
		return readFileSync(`${this.proc}/sys/kernel/random/boot_id`, "utf8").trim();
	}

	private stat(pid: number): { startTicks: number } | undefined {
		if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
		let text: string;
		try {
			text = readFileSync(`${this.proc}/${pid}/stat`, "utf8");
		} catch (thrown) {
			if (hasErrno(thrown, "ENOENT", "ESRCH")) return undefined;
			throw thrown;
		}
		// The name in brackets may hold blanks and brackets: count from the last one.
		const [state, ...fields] = text.slice(text.lastIndexOf(")") + 2).split(" ");
		if (state === "Z" || state === "X") return undefined;
		return { startTicks: Number(fields[18]) };
	}
}

/** Waits until none of these processes runs; the ones that still do when the time is up. */
export async function waitUntilDead(
	table: ProcessTable,
	identities: readonly ProcessIdentity[],
	timeoutMs: number,
): Promise<ProcessIdentity[]> {
	const deadline = performance.now() + timeoutMs;
	for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
		const alive = identities.filter((identity) => table.isAlive(identity));
		if (alive.length === 0 || performance.now() >= deadline) return alive;
		await new Promise((resolve) => setTimeout(resolve, pauseMs));
	}
}
