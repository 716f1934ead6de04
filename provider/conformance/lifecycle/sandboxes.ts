import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../../errors";
import { type Bench, OWNER, STRANGER } from "../bench";
import type { Case } from "../case";
import { rejected, same } from "../judgement";

export const SANDBOXES: readonly Case[] = [
	{
		name: "makes a sandbox, and says of it what it is asked to",
		run: async (bench) => {
			const wish = bench.wish();
			const { handle, adopted } = await bench.provision(wish);
			assert.equal(adopted, false);
			assert.equal(handle.sandbox_id, wish.sandboxId);
			assert.equal(handle.host, wish.host);
			assert.equal(handle.extension, bench.adapter.declaration.id);
			assert.ok(Number.isInteger(handle.generation), "generation");
			assert.doesNotMatch(JSON.stringify(handle), /canary-/);
			const { lease, workspaceDir, reachability } = await bench.caller.do("waitReady", handle);
			const length = (Date.parse(lease.expiresAt) - Date.parse(lease.readyAt)) / 1000;
			assert.ok(Math.abs(length - wish.ttlSeconds) <= 1, `a lease of ${length} s`);
			assert.ok(Math.abs(Date.parse(lease.readyAt) - Date.now()) < 600_000, lease.readyAt);
			assert.ok(workspaceDir.startsWith("/"), workspaceDir);
			assert.equal(typeof reachability.host, "string");
			assert.doesNotMatch(JSON.stringify(reachability), /canary-/);
		},
	},
	{
		name: "adopts, asked again by the same owner for the same, and makes no second one",
		run: async (bench) => {
			const wish = bench.wish();
			const { handle: first } = await bench.provision(wish);
			const { handle, adopted } = await bench.provision(wish, bench.newCaller());
			assert.equal(adopted, true);
			same([handle.sandbox_id, handle.generation], [first.sandbox_id, first.generation]);
			await bench.caller.do("waitReady", handle);
			await bench.isAlone(wish.sandboxId, handle);
		},
	},
	{
		name: "makes one sandbox where several processes ask at once",
		needs: ["locate"],
		run: async (bench) => {
			const wish = bench.wish();
			const callers = [bench.caller, bench.newCaller(), bench.newCaller()];
			const made = await Promise.all(callers.map((caller) => bench.provision(wish, caller)));
			assert.equal(new Set(made.map(({ handle }) => handle.generation)).size, 1);
			same(made.map(({ adopted }) => adopted).sort(), [false, true, true]);
			const [found] = await bench.located({ sandboxId: wish.sandboxId });
			await bench.caller.do("waitReady", found?.handle ?? bench.named(wish));
		},
	},
	{
		name: "refuses the same owner who asks for something else while it lives, and leaves it alone",
		run: async (bench) => {
			const wish = bench.wish();
			const { handle } = await bench.provision(wish);
			const other = bench.provision({ ...wish, digest: "digest-2" }, bench.newCaller());
			await rejected(other, { code: "conflict", names: [wish.sandboxId] });
			await bench.caller.do("waitReady", handle);
		},
	},
	{
		name: "refuses another owner, naming the one it has, and leaves it alone",
		run: async (bench) => {
			const wish = bench.wish();
			const { handle } = await bench.provision(wish);
			for (const owner of [
				STRANGER.owner,
				{ ...OWNER, scope: "another" },
				{ ...OWNER, project: "another" },
				{ ...OWNER, stack: "another" },
				{ ...OWNER, urn: `${OWNER.urn}2` },
			]) {
				const refusal = { code: "conflict", names: [wish.sandboxId, OWNER.urn] } as const;
				await rejected(bench.provision({ ...wish, owner }, bench.newCaller()), refusal);
			}
			await bench.caller.do("waitReady", handle);
		},
	},
	{
		name: "removes a sandbox, and says what it found and removed; once more it finds nothing",
		run: async (bench) => {
			const { handle } = await bench.provision();
			const report = await bench.caller.do("teardown", handle);
			assert.ok(report.found.length > 0 && report.removed.length > 0, JSON.stringify(report));
			same(report.remains, []);
			same(await bench.traces(handle), []);
			same(await bench.newCaller().do("teardown", handle), { found: [], removed: [], remains: [] });
			await rejected(bench.caller.do("waitReady", handle), { code: "gone", names: [handle.sandbox_id] });
		},
	},
	{
		name: "removes a sandbox once where two processes ask at once",
		run: async (bench) => {
			const { handle } = await bench.provision();
			const reports = await Promise.all(
				[bench.caller, bench.newCaller()].map((caller) => caller.do("teardown", handle)),
			);
			same(
				reports.map(({ remains }) => remains),
				[[], []],
			);
			assert.equal(reports.filter(({ removed }) => removed.length > 0).length, 1);
			same(await bench.traces(handle), []);
		},
	},
	{
		name: "gives the next life of an id another generation, and an earlier handle means nothing then",
		run: async (bench) => {
			const wish = bench.wish();
			const { handle: earlier } = await bench.provision(wish);
			await bench.caller.do("teardown", earlier);
			const { handle, adopted } = await bench.provision(wish);
			assert.equal(adopted, false);
			assert.notEqual(handle.generation, earlier.generation);
			await rejected(bench.caller.do("waitReady", earlier), { code: "gone", names: [wish.sandboxId] });
			same(await bench.caller.do("teardown", earlier), { found: [], removed: [], remains: [] });
			await bench.caller.do("waitReady", handle);
		},
	},
	{
		name: "knows nothing of a sandbox that was never made",
		run: async (bench) => {
			const { handle } = await bench.provision();
			await bench.caller.do("teardown", handle);
			same(await bench.traces(handle), []);
			same(await bench.caller.do("teardown", handle), { found: [], removed: [], remains: [] });
		},
	},
	{
		name: "leaves nothing of a create that is stopped",
		run: async (bench) => {
			for (const pause of [0, 5, 20, 60]) {
				const wish = bench.wish();
				const making = bench.caller.begin("provision", wish);
				await delay(pause);
				making.abort();
				const outcome = await making.result.then(
					({ handle }) => handle,
					(error: unknown) => error,
				);
				if (!hasCode(outcome, "aborted")) {
					// It was through before it heard of it.
					if (outcome instanceof Error) throw outcome;
					await bench.caller.do("teardown", outcome as ReturnType<Bench["named"]>);
				}
				same(await bench.traces(bench.named(wish)), []);
			}
		},
	},
	{
		name: "ends a wait that is stopped",
		run: async (bench) => {
			const { handle } = await bench.provision();
			const waiting = bench.caller.begin("waitReady", handle);
			waiting.abort();
			await waiting.result.catch(() => undefined);
			await bench.caller.do("waitReady", handle);
		},
	},
	{
		name: "tells a sandbox that ended from one that is gone, removes the rest, and makes it anew",
		needs: ["crash"],
		run: async (bench) => {
			const wish = bench.wish();
			const { handle } = await bench.provision(wish);
			await bench.adapter.crash?.(handle);
			await rejected(bench.caller.do("waitReady", handle), { code: "remains", names: [wish.sandboxId] });
			const next = await bench.provision(wish);
			assert.equal(next.adopted, false);
			await bench.caller.do("waitReady", next.handle);
			await bench.adapter.crash?.(next.handle);
			same((await bench.caller.do("teardown", next.handle)).remains, []);
			same(await bench.traces(next.handle), []);
		},
	},
];
