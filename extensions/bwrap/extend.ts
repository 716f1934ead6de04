import type { Handle, LeaseCall, LeaseTerms } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { utcMilliseconds } from "../../provider/lease/utc";
import { change, lost } from "./hold";
import { sandboxFolders } from "./holder/command";
import { readDeadline, uptimeSeconds, writeDeadline } from "./holder/control-folder";
import { readVerdict } from "./holder/verdict";
import { setIdleLimit } from "./idle/idle-limit";
import { deadlineOf, hasBeenReady, leaseState, type ReadyRecord } from "./lease";
import { isWhole } from "./liveness";
import { type BwrapRecord, writeRecord } from "./record";
import type { Site } from "./site";

/** How long the supervisor may take to answer, in seconds. It takes milliseconds. */
const ANSWER_SECONDS = 10;

/**
 * Moves the deadline, within the longest lease. The supervisor alone judges: the record is written once it says that it
 * obeys the new one, so that of a renewal and an expiry exactly one wins.
 */
export function extendLease(
	site: Site,
	handle: Handle,
	expiresAt: string | undefined,
	call: LeaseCall,
): Promise<string> {
	return change(site, handle, call, async (record, directory, held) => {
		if (!held || !hasBeenReady(record) || !isWhole(site.table, record)) throw lost(record.sandbox_id);
		const { maxSeconds, idleSeconds } = call.terms ?? termsOf(record);
		const lease = await leaseState(site, directory, record);
		if (lease.isOver) throw over(record, lease.expiresAt);
		const longest = Date.parse(record.ready_at) + maxSeconds * 1000;
		const granted = Math.min(momentOf(record, expiresAt ?? lease.expiresAt), longest);
		await moveDeadline(site, directory, record, deadlineOf(record, granted), call);
		const { idle_seconds: _earlier, ...rest } = record;
		const written: BwrapRecord = {
			...rest,
			expires_at: new Date(granted).toISOString(),
			max_ttl_seconds: maxSeconds,
			...(idleSeconds === undefined ? {} : { idle_seconds: idleSeconds }),
		};
		if (call.terms !== undefined) await setIdleLimit(directory, written);
		await writeRecord(directory, written);
		return new Date(granted).toISOString();
	});
}

function termsOf({ max_ttl_seconds, idle_seconds }: BwrapRecord): LeaseTerms {
	return { maxSeconds: max_ttl_seconds, ...(idle_seconds === undefined ? {} : { idleSeconds: idle_seconds }) };
}

function momentOf({ sandbox_id }: BwrapRecord, text: string): number {
	const moment = utcMilliseconds(text);
	if (moment !== undefined) return moment;
	throw new SandboxerError({
		code: "invalid",
		message: `The new end of the lease of sandbox ${sandbox_id}, ${JSON.stringify(text)}, is no time with its zone.`,
		hint: 'Nothing was changed. Write it in UTC, such as "2026-03-01T10:00:00Z".',
		details: { sandbox_id },
	});
}

/** Puts a deadline and waits until it is in force; one that is not is taken back. */
async function moveDeadline(
	site: Site,
	directory: string,
	record: ReadyRecord,
	deadline: number,
	call: LeaseCall,
): Promise<void> {
	const { control } = sandboxFolders(directory);
	const earlier = await readDeadline(control);
	writeDeadline(control, deadline);
	let inForce = false;
	try {
		await untilObeyed(site, directory, record, deadline, call);
		inForce = true;
	} finally {
		if (!inForce && earlier !== undefined) writeDeadline(control, earlier);
	}
}

async function untilObeyed(
	site: Site,
	directory: string,
	record: ReadyRecord,
	deadline: number,
	{ signal, timeoutSeconds }: LeaseCall,
): Promise<void> {
	const limit = performance.now() + Math.min(timeoutSeconds, ANSWER_SECONDS) * 1000;
	const file = sandboxFolders(directory).verdict;
	for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 100)) {
		const verdict = await readVerdict(file);
		if (verdict?.kind === "obeys" && verdict.deadline === deadline) return;
		// Again each time: a signal that comes just before the supervisor lies down does not wake it.
		if (!site.table.signal(record.supervisor, "SIGUSR1")) {
			// It has ended: as it was told to, or by the deadline before.
			if (deadline <= uptimeSeconds(site.clock)) return;
			throw over(record, record.expires_at);
		}
		if (signal.aborted || performance.now() >= limit) throw unanswered(record);
		await new Promise((resolve) => setTimeout(resolve, pauseMs));
	}
}

function over({ sandbox_id }: BwrapRecord, expiresAt: string): SandboxerError {
	return new SandboxerError({
		code: "gone",
		message: `The lease of sandbox ${sandbox_id} was not changed: the sandbox was ended first (the lease ended at ${expiresAt}).`,
		hint: "pulumi refresh shows what is left of it; pulumi up then makes it again.",
		details: { sandbox_id },
	});
}

function unanswered({ sandbox_id, supervisor }: ReadyRecord): SandboxerError {
	return new SandboxerError({
		code: "unknown",
		message: `The lease of sandbox ${sandbox_id} was not changed for certain: its supervisor, process ${supervisor.pid}, does not answer.`,
		hint: "It may be stopped. See whether it runs (kill -CONT), then pulumi refresh.",
		details: { sandbox_id, pid: supervisor.pid },
	});
}
