import { mkdir } from "node:fs/promises";
import {
	checkpoint,
	type Handle,
	isSameOwner,
	type Profile,
	type Provisioned,
	type ProvisionRequest,
} from "../../provider/contract";
import { errnoOf, SandboxerError } from "../../provider/errors";
import { sandboxDirectory } from "../../provider/workspace";
import { allDone } from "./all-done";
import { sandboxFolders } from "./holder/command";
import { makeControlFolder, uptimeSeconds, writeDeadline } from "./holder/control-folder";
import { Supervisor } from "./holder/start";
import { writeResolvers } from "./holder/system-files";
import { setIdleLimit } from "./idle/idle-limit";
import { hasBeenReady, leaseState } from "./lease";
import { makeCgroups, planCgroups } from "./limits/cgroup";
import { cgroupName } from "./limits/cgroup-name";
import { isAnyAlive, isWhole } from "./liveness";
import { isResumed, newRecord, termsOf } from "./new-record";
import { makeOpenFolder } from "./readable";
import { type BwrapRecord, readRecord, toHandle, writeReadyRecord, writeRecord } from "./record";
import { lockSandbox, type Site } from "./site";
import { exists, isUnfinished, removeSandbox } from "./teardown";
import type { WorkspaceSource } from "./workspace-source";

/**
 * Makes a sandbox, or adopts the one that an earlier call made for the same owner.
 *
 * @param open - Looks at what the workspace shall come from, before anything of a new sandbox is made.
 */
export async function provision(
	site: Site,
	profile: Profile,
	open: () => Promise<WorkspaceSource>,
	request: ProvisionRequest,
): Promise<Provisioned> {
	const directory = sandboxDirectory(site.base, request.sandboxId);
	const programs = site.programs();
	makeBase(site.base);
	const cgroups = planCgroups(cgroupName(directory, request.sandboxId), profile.resources);
	let supervisor: Supervisor | undefined;
	const take = async (lock: number, waitSeconds: number) => {
		await supervisor?.dismiss();
		supervisor = new Supervisor(programs, directory, lock, waitSeconds);
		return supervisor.locked(request.signal);
	};
	const work = async () => {
		await checkpoint("provision:locked");
		const earlier = await readRecord(directory);
		if (earlier === undefined) await assertFree(directory, request.sandboxId);
		const adopted = earlier === undefined ? undefined : await adopt(site, directory, earlier, profile, request);
		if (adopted !== undefined) return { handle: adopted, adopted: true };
		const source = await open();
		try {
			const record = newRecord(site, profile, request, earlier, cgroups);
			try {
				const handle = await make(site, directory, record, source, request, supervisor as Supervisor);
				return { handle, adopted: isResumed(request, record) };
			} catch (thrown) {
				throw await rolledBack(site, directory, record, SandboxerError.from(thrown));
			}
		} finally {
			await source.close();
		}
	};
	try {
		return await lockSandbox(site, request.sandboxId, request, work, take);
	} finally {
		await supervisor?.dismiss();
	}
}

function makeBase(base: string): void {
	try {
		// Sandboxes of root run under ids of their own: those must be able to pass through.
		makeOpenFolder(base, 0o711);
	} catch (thrown) {
		throw new SandboxerError({
			code: "preflight",
			message: `The state folder ${base} could not be made (${errnoOf(thrown) ?? String(thrown)}).`,
			hint: "Choose another: pulumi config set --path sandboxer:bwrap.state_dir /srv/sandboxes, or SANDBOXER_STATE_DIR.",
			cause: thrown,
		});
	}
}

async function assertFree(directory: string, sandboxId: string): Promise<void> {
	if (!(await exists(directory)) || (await isUnfinished(directory))) return;
	throw new SandboxerError({
		code: "conflict",
		message: `Sandbox ${sandboxId} was not made: ${directory} is an existing directory without our marker.`,
		hint: "It was not touched. Choose another sandboxId, or move that directory away.",
		details: { sandbox_id: sandboxId, remote_dir: directory },
	});
}

/** The sandbox that is there, if it is ours, alive and the same; undefined once its remains are removed. */
async function adopt(
	site: Site,
	directory: string,
	earlier: BwrapRecord,
	profile: Profile,
	request: ProvisionRequest,
): Promise<Handle | undefined> {
	const { owner } = earlier;
	if (!isSameOwner(owner, request.owner)) {
		throw new SandboxerError({
			code: "conflict",
			message: `Sandbox ${request.sandboxId} belongs to ${owner.urn} (project ${owner.project}, stack ${owner.stack}, scope ${owner.scope}).`,
			hint: "It was not touched. Choose another sandboxId, or take it over with adopt: true.",
			details: { sandbox_id: request.sandboxId, owner },
		});
	}
	// One whose lease is over may still run: its supervisor is about to end it.
	const isOver = hasBeenReady(earlier) && (await leaseState(site, directory, earlier)).isOver;
	if (!isOver && earlier.digest === request.digest && earlier.phase === "ready" && isWhole(site.table, earlier)) {
		request.progress("adopting the sandbox that an earlier run made");
		const { idle_seconds: _earlier, ...kept } = earlier;
		const record = {
			...kept,
			claim: isResumed(request, earlier) ? earlier.claim : earlier.claim + 1,
			labels: request.labels,
			...termsOf(profile),
		};
		await setIdleLimit(directory, record);
		await writeRecord(directory, record);
		return toHandle(record, directory);
	}
	if (!isOver && earlier.digest !== request.digest && (await isAnyAlive(site.table, directory, earlier))) {
		throw new SandboxerError({
			code: "conflict",
			message: `Sandbox ${request.sandboxId} runs already, for this very resource but with other settings.`,
			hint: "It was not touched. Let the old one be deleted first (leave deleteBeforeReplace on), choose another sandboxId, or run pulumi destroy.",
			details: { sandbox_id: request.sandboxId },
		});
	}
	request.progress("removing what an earlier run left");
	const { remains } = await removeSandbox(site, directory, earlier, request);
	if (remains.length > 0) throw remaining(request.sandboxId, remains);
	return undefined;
}

async function make(
	site: Site,
	directory: string,
	record: BwrapRecord,
	source: WorkspaceSource,
	request: ProvisionRequest,
	supervisor: Supervisor,
): Promise<Handle> {
	const folders = sandboxFolders(directory);
	makeOpenFolder(directory, 0o711);
	await writeRecord(directory, record);
	await checkpoint("provision:record-written");
	await mkdir(folders.workspace, { mode: 0o700 });
	await source.fill(folders.workspace, record, request);
	await checkpoint("provision:workspace-copied");
	const { sandbox_id: sandboxId, generation, ttl_seconds: ttl } = record;
	const firstDeadline = Math.ceil(uptimeSeconds(site.clock)) + ttl;
	const writeFiles = async () => {
		if (record.network === "allow") writeResolvers(folders.resolvers);
		makeControlFolder(folders.control, { sandboxId, generation }, firstDeadline);
		await setIdleLimit(directory, record);
	};
	await allDone([makeCgroups(record.cgroups, record.resources), writeFiles()]);
	await checkpoint("provision:limits-made");
	if (request.signal.aborted) throw stopped(record.sandbox_id);
	request.progress("starting bwrap");
	const { signal, timeoutSeconds } = request;
	const starting = supervisor.start({ record, clock: site.clock, signal, timeoutSeconds });
	site.probes.start(directory, { programs: site.programs(), record });
	const held = await starting;
	void site.probes.follow(directory, held.init.pid);
	const readyAt = site.now();
	const readyUptime = uptimeSeconds(site.clock);
	const deadline = Math.ceil(readyUptime) + ttl;
	if (deadline !== firstDeadline) writeDeadline(folders.control, deadline);
	// Now, not before: whoever reads the earlier one from here on has read an earlier clock, and goes on.
	if (uptimeSeconds(site.clock) >= firstDeadline) throw overBefore(record);
	const ready: BwrapRecord = {
		...record,
		phase: "ready",
		ready_at: new Date(readyAt).toISOString(),
		ready_uptime: readyUptime,
		expires_at: new Date(readyAt + ttl * 1000).toISOString(),
		...held,
	};
	await writeReadyRecord(directory, ready);
	await checkpoint("provision:recorded");
	return toHandle(ready, directory);
}

function overBefore({ sandbox_id, ttl_seconds }: BwrapRecord): SandboxerError {
	return new SandboxerError({
		code: "timeout",
		message: `The lease of sandbox ${sandbox_id}, ${ttl_seconds} s, was over before the sandbox was ready.`,
		hint: "Ask for a longer ttl.",
		details: { sandbox_id },
	});
}

function stopped(sandboxId: string): SandboxerError {
	return new SandboxerError({ code: "aborted", message: `The create of sandbox ${sandboxId} was stopped.` });
}

/** Removes what this call made; the first error stays first, and what could not be removed goes along as a handle. */
async function rolledBack(
	site: Site,
	directory: string,
	record: BwrapRecord,
	first: SandboxerError,
): Promise<SandboxerError> {
	let trouble: string;
	try {
		const { remains } = await removeSandbox(site, directory, (await readRecord(directory)) ?? record, {
			signal: new AbortController().signal,
		});
		if (remains.length === 0) return first;
		trouble = remaining(record.sandbox_id, remains).text;
	} catch (thrown) {
		trouble = SandboxerError.from(thrown).text;
	}
	return new SandboxerError({
		code: first.code,
		message: first.message,
		hint: `${first.hint ?? ""} Then the clean-up failed too: ${trouble}`.trim(),
		details: { ...first.details, leftover: toHandle(record, directory) },
		cause: first,
	});
}

function remaining(sandboxId: string, remains: readonly string[]): SandboxerError {
	return new SandboxerError({
		code: "remains",
		message: `Sandbox ${sandboxId} could not be removed whole; still there: ${remains.join(", ")}.`,
		hint: "Remove what holds it, and run pulumi destroy again.",
		details: { sandbox_id: sandboxId, remains },
	});
}
