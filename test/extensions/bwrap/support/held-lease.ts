import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { makeControlFolder } from "../../../../extensions/bwrap/holder/control-folder";
import { readVerdict, type Verdict } from "../../../../extensions/bwrap/holder/verdict";
import { findPrograms } from "../../../../extensions/bwrap/preflight";
import { StartedProbes } from "../../../../extensions/bwrap/probes/started-probes";
import { type BwrapRecord, readRecord, toHandle, writeRecord } from "../../../../extensions/bwrap/record";
import type { Site } from "../../../../extensions/bwrap/site";
import type { Handle } from "../../../../provider/contract";
import { ProcessTable } from "../../../../provider/identity";
import { aRecord } from "./a-record";
import { OWNER } from "./host";
import { processesOfGroup } from "./traces";
import { until } from "./until";

const SUPERVISE = readFileSync(join(__dirname, "../../../../extensions/bwrap/holder/supervise.sh"), "utf8");

/** The clock of the place when a lease begins, in seconds. */
export const READY_UPTIME = 1000;

/** A state folder under a clock that a test holds. */
export class HeldPlace {
	readonly folder = mkdtempSync(join(tmpdir(), "held-lease-"));
	readonly site: Site;
	readonly leases: HeldLease[] = [];
	/** The place's UTC beside its clock, in milliseconds; a jump of it must make no difference. */
	utcAtReady: number;

	constructor(readonly readyAt = "2026-03-01T10:00:00Z") {
		const path = process.env["PATH"] ?? "";
		const clock = join(this.folder, "uptime");
		this.utcAtReady = Date.parse(readyAt);
		this.site = {
			base: join(this.folder, "bwrap"),
			snapshots: join(this.folder, "bwrap-snapshots"),
			path,
			table: new ProcessTable(),
			programs: () => findPrograms(path),
			probes: new StartedProbes(),
			clock,
			now: () => this.utcAtReady + (this.uptime - READY_UPTIME) * 1000,
		};
		mkdirSync(this.site.base);
		this.set(READY_UPTIME);
	}

	get uptime(): number {
		return Number(readFileSync(this.site.clock, "utf8").split(" ")[0]);
	}

	/** Sets the clock; whoever sleeps does not notice. */
	set(seconds: number): void {
		writeFileSync(`${this.site.clock}.new`, `${seconds.toFixed(2)} 0.00\n`);
		renameSync(`${this.site.clock}.new`, this.site.clock);
	}

	async lease(sandboxId: string, options: { ttlSeconds: number; maxSeconds?: number }): Promise<HeldLease> {
		const lease = await HeldLease.start(this, sandboxId, options);
		this.leases.push(lease);
		return lease;
	}

	async dispose(): Promise<void> {
		for (const lease of this.leases) await lease.end();
		rmSync(this.folder, { recursive: true });
	}
}

/** A sandbox of nothing: its supervisor is the real one and holds a process that sleeps. */
export class HeldLease {
	private constructor(
		readonly directory: string,
		readonly handle: Handle,
		private readonly supervisor: ChildProcess,
	) {}

	static async start(
		place: HeldPlace,
		sandboxId: string,
		{ ttlSeconds, maxSeconds = 14_400 }: { ttlSeconds: number; maxSeconds?: number },
	): Promise<HeldLease> {
		const { site, readyAt } = place;
		const directory = join(site.base, sandboxId);
		const control = join(directory, "control");
		mkdirSync(directory);
		makeControlFolder(control, { sandboxId, generation: 1 }, READY_UPTIME + ttlSeconds);
		const words = ["-c", SUPERVISE, "supervise", directory, site.clock, "sleep", "1000"];
		const child = spawn("sh", words, { detached: true, stdio: "ignore", cwd: "/", env: { PATH: site.path } });
		const supervisor = site.table.identify(child.pid ?? 0);
		if (supervisor === undefined) throw new Error("the supervisor did not start");
		const record = aRecord({
			sandbox_id: sandboxId,
			owner: OWNER,
			ttl_seconds: ttlSeconds,
			max_ttl_seconds: maxSeconds,
			ready_at: readyAt,
			ready_uptime: READY_UPTIME,
			expires_at: new Date(Date.parse(readyAt) + ttlSeconds * 1000).toISOString(),
			supervisor,
			init: supervisor,
		});
		await writeRecord(directory, record);
		const lease = new HeldLease(directory, toHandle(record, directory), child);
		while (lease.runs && (await lease.verdict()) === undefined) await setTimeout(1);
		return lease;
	}

	get runs(): boolean {
		return this.supervisor.exitCode === null && this.supervisor.signalCode === null;
	}

	get pid(): number {
		return this.supervisor.pid ?? 0;
	}

	verdict(): Promise<Verdict | undefined> {
		return readVerdict(join(this.directory, "verdict"));
	}

	record(): Promise<BwrapRecord | undefined> {
		return readRecord(this.directory);
	}

	/** Has the supervisor look at the clock now. */
	wake(): void {
		if (this.runs) this.supervisor.kill("SIGUSR1");
	}

	/** Has the supervisor look until it has ended it all. */
	async over(): Promise<void> {
		for (const limit = performance.now() + 30_000; this.runs; await setTimeout(2)) {
			if (performance.now() > limit) throw new Error("the supervisor lives on");
			this.wake();
		}
	}

	async end(): Promise<void> {
		if (this.runs) process.kill(-this.pid, "SIGKILL");
		await until("nothing is left of it", () => processesOfGroup(this.pid).length === 0);
	}
}
