import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { expire } from "../../../../extensions/bwrap/expire";
import { extendLease } from "../../../../extensions/bwrap/extend";
import { locateAll } from "../../../../extensions/bwrap/hold";
import { inventory } from "../../../../extensions/bwrap/inventory/inventory";
import { writeRecord } from "../../../../extensions/bwrap/record";
import type { Located } from "../../../../provider/contract";
import { hasCode } from "../../../../provider/errors";
import { durationSeconds } from "../../../../provider/lease/duration";
import { update } from "../../../../provider/lifecycle";
import { aRecord } from "../support/a-record";
import { type HeldLease, HeldPlace, READY_UPTIME } from "../support/held-lease";
import { callFor } from "../support/host";
import { LocalBwrap } from "./local-bwrap";

interface Row {
	readonly ready_at?: string;
	readonly ttl?: string;
	readonly now?: string;
	readonly expired?: boolean;
	readonly zone_of_this_machine?: string;
	readonly extended_by?: string;
	readonly profile_max?: string;
	readonly expires_at?: string;
	readonly expire_apply?: string;
	readonly expire?: string;
	readonly clock?: string;
	readonly status?: string;
	readonly revived?: string;
}

const CASE = resolve(__dirname, "../../../cases/25-ttl/expiry.yaml");
const ROWS = parse(readFileSync(CASE, "utf8")) as readonly Row[];
const call = callFor(new AbortController().signal);
const seconds = (duration: string | undefined) => durationSeconds(duration ?? "") ?? Number.NaN;
const zoneBefore = process.env["TZ"];

describe("case 25: expiry.yaml", () => {
	const tried = new Set<Row>();
	/** Rows by a test of their own; each row is somebody's. */
	const rows = (test: (row: Row) => unknown) => {
		const found = ROWS.filter(test);
		for (const row of found) tried.add(row);
		return found.map((row): [string, Row] => [JSON.stringify(row), row]);
	};

	const places: HeldPlace[] = [];
	const place = (readyAt?: string) => {
		places.push(new HeldPlace(readyAt));
		return places.at(-1) as HeldPlace;
	};
	afterEach(async () => {
		for (const held of places.splice(0)) await held.dispose();
		if (zoneBefore === undefined) Reflect.deleteProperty(process.env, "TZ");
		else process.env["TZ"] = zoneBefore;
	});

	async function begun({ ready_at = "", ttl, profile_max = "24h" }: Row): Promise<[HeldPlace, HeldLease]> {
		const held = place(ready_at);
		return [held, await held.lease("box", { ttlSeconds: seconds(ttl), maxSeconds: seconds(profile_max) })];
	}
	const uptimeAt = ({ ready_at = "", now = "" }: Row) => READY_UPTIME + (Date.parse(now) - Date.parse(ready_at)) / 1000;
	const located = async (held: HeldPlace) => (await locateAll(held.site))[0] as Located;

	it.each(rows(({ expired, extended_by }) => expired !== undefined && extended_by === undefined))(
		"%s",
		async (_, row) => {
			if (row.zone_of_this_machine !== undefined) process.env["TZ"] = row.zone_of_this_machine;
			const [held, lease] = await begun(row);
			held.set(uptimeAt(row));
			expect((await located(held)).isOver).toBe(row.expired);
			expect(await expire(held.site, lease.handle, call)).toEqual(row.expired ? expect.anything() : undefined);
			expect(await located(held)).toEqual(row.expired ? undefined : expect.objectContaining({ alive: true }));
		},
	);

	it.each(rows(({ expired, extended_by }) => expired !== undefined && extended_by === undefined))(
		"%s, after the machine was booted anew: by UTC",
		async (_, row) => {
			if (row.zone_of_this_machine !== undefined) process.env["TZ"] = row.zone_of_this_machine;
			const [held, lease] = await begun(row);
			await lease.end();
			const record = (await lease.record()) ?? aRecord();
			const dead = { boot_id: "an-earlier-boot", pid: lease.pid, start_ticks: 1 };
			await writeRecord(lease.directory, { ...record, supervisor: dead, init: dead });
			held.set(3);
			held.utcAtReady = Date.parse(row.now ?? "") + (READY_UPTIME - 3) * 1000;
			expect((await located(held)).isOver).toBe(row.expired);
		},
	);

	it.each(rows(({ extended_by }) => extended_by !== undefined))("%s", async (_, row) => {
		const [held, lease] = await begun(row);
		const asked = new Date(Date.parse(row.ready_at ?? "") + (seconds(row.ttl) + seconds(row.extended_by)) * 1000);
		const granted = await extendLease(held.site, lease.handle, asked.toISOString(), call);
		expect(granted).toBe(row.expires_at === undefined ? asked.toISOString() : new Date(row.expires_at).toISOString());
		expect((await located(held)).expiresAt).toBe(granted);
		if (row.now !== undefined) held.set(uptimeAt(row));
		expect(await expire(held.site, lease.handle, call)).toBeUndefined();
	});

	it.each(rows(({ expire_apply: what }) => what === "read the list"))("%s", async () => {
		const held = place();
		const lease = await held.lease("box", { ttlSeconds: 3600 });
		held.set(READY_UPTIME + 3599);
		const [listed] = await locateAll(held.site);
		const later = new Date(Date.parse(listed?.expiresAt ?? "") + 1_800_000).toISOString();
		await extendLease(held.site, lease.handle, later, call);
		held.set(READY_UPTIME + 3601);
		expect(await expire(held.site, listed?.handle ?? lease.handle, call)).toBeUndefined();
		expect(lease.runs).toBe(true);
		expect((await located(held)).expiresAt).toBe(later);
	});

	it.each(rows(({ expire_apply: what }) => what === "runs twice at once"))("%s", async () => {
		const held = place();
		const lease = await held.lease("box", { ttlSeconds: 3600 });
		held.set(READY_UPTIME + 3600);
		const reports = await Promise.all([1, 2].map(() => expire(held.site, lease.handle, call)));
		expect(reports.map((report) => report?.remains)).toEqual([[], []]);
		expect(reports.filter((report) => report?.found.length === 0)).toHaveLength(1);
		expect(lease.runs).toBe(false);
	});

	// That the command's exit code says so is tested with the command.
	it.each(rows(({ expire_apply: what }) => what === "fails on one of three"))("%s", async () => {
		const held = place();
		const leases = [];
		for (const id of ["one", "two", "three"]) leases.push(await held.lease(id, { ttlSeconds: 60 }));
		held.set(READY_UPTIME + 60);
		writeFileSync(join(held.site.base, "two", "record.json"), "{ damaged");
		const ends = await Promise.allSettled(leases.map(({ handle }) => expire(held.site, handle, call)));
		expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
		expect(leases.map(({ runs }) => runs)).toEqual([false, expect.any(Boolean), false]);
		expect((await inventory(held.site, call)).map(({ sandboxId, action }) => [sandboxId, action])).toEqual([
			["two", "inspect"],
		]);
	});

	it.each(rows(({ expire: what }) => what === "without --apply"))("%s: the list is only looked at", async () => {
		const held = place();
		const lease = await held.lease("box", { ttlSeconds: 3600 });
		held.set(READY_UPTIME + 4000);
		const before = await lease.record();
		expect(await located(held)).toMatchObject({ isOver: true });
		expect(await inventory(held.site, call)).toMatchObject([{ sandboxId: "box", action: "ignore" }]);
		expect(await lease.record()).toEqual(before);
		expect(lease.runs).toBe(true);
	});

	it.each(rows(({ clock }) => clock?.startsWith("host 20 min behind")))("%s", async () => {
		const held = place();
		const lease = await held.lease("box", { ttlSeconds: 3600 });
		// UTC on this machine, before and after the end by the clock of the place.
		for (const [skewMinutes, uptime, isOver] of [
			[20, 3599, false],
			[-20, 3600, true],
		] as const) {
			held.utcAtReady = Date.parse(held.readyAt) + skewMinutes * 60_000;
			held.set(READY_UPTIME + uptime);
			expect(await located(held)).toMatchObject({ isOver, clockAheadSeconds: skewMinutes * 60 });
		}
		await lease.over();
		expect(await lease.verdict()).toMatchObject({ kind: "over" });
	});

	it("a clock that jumps between create and extend moves no deadline", async () => {
		const held = place();
		const lease = await held.lease("box", { ttlSeconds: 3600 });
		held.utcAtReady += 3_600_000;
		const asked = new Date(Date.parse(held.readyAt) + 7_200_000).toISOString();
		expect(await extendLease(held.site, lease.handle, asked, call)).toBe(asked);
		expect(await lease.verdict()).toEqual({ kind: "obeys", deadline: READY_UPTIME + 7200 });
	});

	describe("through whole sandboxes", () => {
		let local: LocalBwrap;
		let jump = 0;
		beforeEach(() => {
			jump = 0;
			let looks = 0;
			// Each look at the clock is one step of the jump later.
			local = new LocalBwrap(() => Date.now() + jump * looks++);
		});
		afterEach(() => local.dispose());

		it.each(rows(({ clock }) => clock?.startsWith("this machine jumps back")))("%s", async () => {
			jump = -3_600_000;
			const handle = await local.make("box", { ttlSeconds: 600 });
			const { lease } = await local.extension.waitReady(handle, local.call);
			expect(Date.parse(lease.expiresAt) - Date.parse(lease.readyAt)).toBe(600_000);
			expect(await local.extension.expire(handle, local.call)).toBeUndefined();
		});

		it.each(rows(({ revived }) => revived !== undefined))("%s", async () => {
			const first = await local.make("box", { ttlSeconds: 6 });
			const before = await local.extension.waitReady(first, local.call);
			while (!(await local.extension.locate({ sandboxId: "box" }, local.call))[0]?.isOver)
				await new Promise((resolve) => setTimeout(resolve, 50));
			const second = await local.make("box", { ttlSeconds: 600 });
			const { lease } = await local.extension.waitReady(second, local.call);
			expect(Date.parse(lease.readyAt)).toBeGreaterThanOrEqual(Date.parse(before.lease.expiresAt));
			expect(Date.parse(lease.expiresAt) - Date.parse(lease.readyAt)).toBe(600_000);
			expect(await local.extension.expire(first, local.call)).toEqual({ found: [], removed: [], remains: [] });
			expect(await local.extension.expire(second, local.call)).toBeUndefined();
		});

		it.each(rows(({ clock }) => clock?.startsWith("state has expires_at")))("%s", async () => {
			const zoneless = "2026-03-01T10:00:00";
			const handle = await local.make("box");
			const refused = local.extension.extendLease(handle, zoneless, local.call);
			await expect(refused).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining(zoneless) });
			const asked = { ttl: "1h", profile: local.profile, timeouts: {}, labels: {}, sandboxId: "box" };
			const olds = { ...asked, handle, phase: "ready", lease: { readyAt: zoneless, expiresAt: zoneless } };
			const changed = update(local.backend, olds as never, { ...asked, ttl: "2h" } as never);
			await expect(changed).rejects.toMatchObject({ code: "unknown", message: expect.stringContaining(zoneless) });
			const file = join(local.base, "box", "record.json");
			const text = readFileSync(file, "utf8");
			writeFileSync(file, text.replace(/"expires_at":"[^"]*Z"/, `"expires_at":"${zoneless}"`));
			const error: unknown = await local.extension.expire(handle, local.call).catch((thrown: unknown) => thrown);
			expect(hasCode(error, "unknown") && error.message).toMatch(/expires_at/);
			writeFileSync(file, text);
		});
	});

	it.each(rows(({ status }) => status === "provisioning"))("%s", async () => {
		const held = place();
		const lease = await held.lease("box", { ttlSeconds: 3600 });
		await lease.end();
		rmSync(join(lease.directory, "verdict"));
		const createdAt = new Date(held.site.now() - 6 * 3_600_000).toISOString();
		const record = aRecord({ sandbox_id: "box", phase: "provisioning", created_at: createdAt });
		await writeRecord(lease.directory, record);
		expect(await expire(held.site, lease.handle, call)).toBeUndefined();
		expect(await located(held)).not.toHaveProperty("expiresAt");
		expect(await located(held)).not.toHaveProperty("isOver");
		expect(await inventory(held.site, call)).toEqual([
			{
				kind: "aged_dir",
				what: `directory ${lease.directory}`,
				sandboxId: "box",
				action: "reap",
				reason: `its create, begun at ${createdAt}, was never finished, and nobody is at it`,
			},
		]);
	});

	it("has a test for every row", () => expect(ROWS.filter((row) => !tried.has(row))).toEqual([]));
});
