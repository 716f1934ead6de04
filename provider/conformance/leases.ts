import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Handle, Located } from "../contract";
import { type Bench, until } from "./bench";
import type { Case } from "./case";
import { rejected, same } from "./judgement";

const HOUR_MS = 3_600_000;
const inMs = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

/** A sandbox with a lease of so many seconds; it may be over when this returns. */
async function short(bench: Bench, ttlSeconds: number): Promise<Handle> {
	return (await bench.provision(bench.wish({ ttlSeconds }))).handle;
}

async function lives(bench: Bench, handle: Handle): Promise<boolean> {
	return bench.caller.do("waitReady", handle).then(
		() => true,
		() => false,
	);
}

async function endsBy(bench: Bench, handle: Handle, seconds: number): Promise<void> {
	await until(
		"its lease ends the sandbox",
		async () => ((await lives(bench, handle)) ? "it is ready" : undefined),
		seconds,
	);
	await rejected(bench.caller.do("waitReady", handle), { code: "remains", names: [handle.sandbox_id] });
}

async function leaseOf(bench: Bench, handle: Handle): Promise<Located | undefined> {
	return (await bench.located({ sandboxId: handle.sandbox_id }))[0];
}

/** Where an extension measures by how much the caller's clock is ahead, it is so. */
function assertAhead(located: Located | undefined, seconds: number): void {
	const { clockAheadSeconds: ahead = seconds } = located ?? {};
	assert.ok(Math.abs(ahead - seconds) <= 60, `the clock is said to be ${ahead} s ahead, not ${seconds}`);
}

export const LEASES: readonly Case[] = [
	{
		name: "ends a sandbox when its lease is over, also where its maker is gone",
		run: async (bench) => {
			const maker = bench.newCaller();
			const { handle } = await bench.provision(bench.wish({ ttlSeconds: 3 }), maker);
			await bench.caller.do("waitReady", handle);
			await maker.end("SIGKILL");
			await endsBy(bench, handle, 6);
			await until("its processes have ended", async () =>
				(await bench.traces(handle)).find((trace) => trace.startsWith("process ")),
			);
		},
	},
	{
		name: "moves a deadline away, and says which one it granted",
		run: async (bench) => {
			const handle = await short(bench, 3);
			const asked = inMs(HOUR_MS);
			const granted = await bench.caller.do("extendLease", { handle, expiresAt: asked });
			assert.ok(Math.abs(Date.parse(granted) - Date.parse(asked)) < 2000, `${granted} instead of ${asked}`);
			await delay(4500);
			const { lease } = await bench.caller.do("waitReady", handle);
			assert.equal(lease.expiresAt, granted);
			assert.equal((await leaseOf(bench, handle))?.expiresAt, granted);
		},
	},
	{
		name: "brings a deadline nearer, which holds at once",
		run: async (bench) => {
			const handle = await short(bench, 3600);
			await bench.caller.do("extendLease", { handle, expiresAt: inMs(2000) });
			await endsBy(bench, handle, 5);
		},
	},
	{
		name: "grants no more than the longest lease",
		run: async (bench) => {
			const handle = await short(bench, 60);
			const terms = { maxSeconds: 7200 };
			const granted = await bench.caller.do("extendLease", { handle, expiresAt: inMs(100 * HOUR_MS), terms });
			const { lease } = await bench.caller.do("waitReady", handle);
			assert.equal(lease.expiresAt, granted);
			const length = (Date.parse(granted) - Date.parse(lease.readyAt)) / 1000;
			assert.ok(Math.abs(length - 7200) <= 1, `a lease of ${length} s`);
		},
	},
	{
		name: "refuses a time without its zone, or that is none",
		run: async (bench) => {
			const handle = await bench.box();
			const before = (await leaseOf(bench, handle))?.expiresAt;
			for (const expiresAt of ["2036-03-01T10:00:00", "tomorrow", "", "NaN"])
				await rejected(bench.caller.do("extendLease", { handle, expiresAt }), {
					code: "invalid",
					names: [handle.sandbox_id],
				});
			assert.equal((await leaseOf(bench, handle))?.expiresAt, before);
		},
	},
	{
		name: "renews no lease that is over",
		run: async (bench) => {
			const handle = await short(bench, 3);
			await endsBy(bench, handle, 8);
			const late = bench.caller.do("extendLease", { handle, expiresAt: inMs(HOUR_MS) });
			await rejected(late, { code: "gone", names: [handle.sandbox_id] });
		},
	},
	{
		name: "expires no sandbox whose lease is not over, and leaves it alone",
		needs: ["expire"],
		run: async (bench) => {
			const handle = await bench.box();
			assert.equal(await bench.caller.do("expire", handle), undefined);
			assert.ok(await lives(bench, handle));
		},
	},
	{
		name: "expires a sandbox whose lease is over, once where two do it at once",
		needs: ["expire"],
		run: async (bench) => {
			const handle = await short(bench, 3);
			await endsBy(bench, handle, 8);
			const reports = await Promise.all([bench.caller, bench.newCaller()].map((caller) => caller.do("expire", handle)));
			same(
				reports.flatMap((report) => report?.remains ?? ["not over"]),
				[],
			);
			assert.equal(reports.filter((report) => (report?.removed.length ?? 0) > 0).length, 1);
			same(await bench.traces(handle), []);
		},
	},
	{
		name: "goes by the clock of the place: a caller whose clock is held an hour ahead ends nothing early, and makes no longer lease",
		needs: ["locate", "expire"],
		run: async (bench) => {
			const handle = await short(bench, 900);
			await bench.withClock(Date.now() + HOUR_MS, async (ahead) => {
				const [before] = await ahead.do("locate", { sandboxId: handle.sandbox_id });
				assert.notEqual(before?.isOver, true);
				assertAhead(before, 3600);
				assert.equal(await ahead.do("expire", handle), undefined);
				const terms = { maxSeconds: 1800 };
				const granted = await ahead.do("extendLease", { handle, expiresAt: inMs(100 * HOUR_MS), terms });
				const { lease } = await bench.caller.do("waitReady", handle);
				assert.equal(lease.expiresAt, granted);
				assert.ok(Math.abs((Date.parse(granted) - Date.parse(lease.readyAt)) / 1000 - 1800) <= 1, granted);
			});
		},
	},
	{
		name: "goes by the clock of the place: a caller whose clock is held an hour behind keeps nothing alive",
		needs: ["locate", "expire"],
		run: async (bench) => {
			const handle = await short(bench, 3);
			await bench.withClock(Date.now() - HOUR_MS, async (behind) => {
				await endsBy(bench, handle, 8);
				const [over] = await behind.do("locate", { sandboxId: handle.sandbox_id });
				assert.notEqual(over?.isOver, false);
				assertAhead(over, -3600);
				const late = behind.do("extendLease", { handle, expiresAt: inMs(-HOUR_MS / 2) });
				await rejected(late, { code: "gone", names: [handle.sandbox_id] });
				assert.ok(((await behind.do("expire", handle))?.removed.length ?? 0) > 0, "it was kept");
			});
		},
	},
	{
		name: "expires nothing by the handle of an earlier holder",
		needs: ["expire", "claim"],
		run: async (bench) => {
			const old = await short(bench, 3);
			const attribution = { owner: { ...bench.wish().owner, stack: "another" }, labels: {} };
			const handle = await bench.caller.do("claim", { handle: old, attribution });
			await endsBy(bench, handle, 6);
			same((await bench.caller.do("expire", old))?.removed ?? [], []);
			assert.ok((await leaseOf(bench, handle)) !== undefined, "it was removed");
		},
	},
	{
		name: "lets one win where a lease is renewed and ended at once",
		needs: ["expire"],
		run: async (bench) => {
			const rounds = bench.adapter.thorough === true ? 20 : 5;
			const renewer = bench.newCaller();
			const play = async () => {
				const handle = await short(bench, 3);
				const end = Date.parse((await leaseOf(bench, handle))?.expiresAt ?? "");
				await delay(Math.max(0, end - Date.now() - 30 + Math.random() * 60));
				const expiresAt = inMs(HOUR_MS);
				const [renewed, ended] = await Promise.allSettled([
					renewer.do("extendLease", { handle, expiresAt }),
					bench.caller.do("expire", handle),
				]);
				await delay(1500);
				const isRenewed = renewed.status === "fulfilled";
				if (isRenewed) assert.ok(!(ended.status === "fulfilled" && (ended.value?.removed.length ?? 0) > 0), "both won");
				assert.equal(await lives(bench, handle), isRenewed, `renewed: ${isRenewed}`);
			};
			await Promise.all(Array.from({ length: rounds }, play));
		},
	},
];
