import assert from "node:assert/strict";
import { OWNER, STRANGER } from "../bench";
import type { Case } from "../case";
import { rejected, same } from "../judgement";

export const HOLDERS: readonly Case[] = [
	{
		name: "finds a sandbox by its id, by its owner, and among all",
		needs: ["locate"],
		run: async (bench) => {
			const owner = { ...OWNER, urn: `${OWNER.urn}-${Math.random()}` };
			const wish = bench.wish({ owner, labels: { team: "one" } });
			const { handle } = await bench.provision(wish);
			await bench.caller.do("waitReady", handle);
			for (const query of [{ sandboxId: wish.sandboxId }, { owner }, {}]) {
				const found = (await bench.located(query)).filter((one) => one.handle.sandbox_id === wish.sandboxId);
				assert.equal(found.length, 1, JSON.stringify(query));
				const [one] = found;
				same(one?.handle, handle);
				same(one?.owner, owner);
				same(one?.labels, wish.labels);
				same([one?.digest, one?.phase, one?.alive], [wish.digest, "ready", true]);
				same(one?.credentialRoutes, [{ ref: "DECLARED", env: "DECLARED" }]);
			}
			same(await bench.located({ sandboxId: `${wish.sandboxId}-none` }), []);
			same(await bench.located({ owner: { ...owner, stack: "another" } }), []);
			await bench.caller.do("teardown", handle);
			same(await bench.located({ owner }), []);
		},
	},
	{
		name: "hands a sandbox over: the new holder has it, and the old handle means nothing",
		needs: ["claim"],
		run: async (bench) => {
			const wish = bench.wish();
			const { handle: old } = await bench.provision(wish);
			const handle = await bench.caller.do("claim", { handle: old, attribution: STRANGER });
			assert.equal(handle.generation, old.generation);
			await bench.caller.do("waitReady", handle);
			const [found] = await bench.located({ sandboxId: wish.sandboxId });
			same([found?.owner, found?.labels], [STRANGER.owner, STRANGER.labels]);
			await rejected(bench.caller.do("waitReady", old), { code: "gone", names: [wish.sandboxId] });
			const backAgain = { owner: { ...OWNER, stack: "three" }, labels: {} };
			await rejected(bench.caller.do("claim", { handle: old, attribution: backAgain }), {
				code: "gone",
				names: [wish.sandboxId],
			});
			same(await bench.caller.do("teardown", old), { found: [], removed: [], remains: [] });
			await rejected(bench.provision(wish), { code: "conflict", names: [STRANGER.owner.urn] });
			await bench.caller.do("waitReady", handle);
		},
	},
	{
		name: "hands a sandbox over once where it is asked twice, as after a lost answer",
		needs: ["claim"],
		run: async (bench) => {
			const { handle: old } = await bench.provision();
			const take = () => bench.caller.do("claim", { handle: old, attribution: STRANGER });
			same(await take(), await take());
		},
	},
	{
		name: "hands a sandbox to one of two who claim it at once",
		needs: ["claim"],
		run: async (bench) => {
			const { handle: old } = await bench.provision();
			const takers = ["two", "three"].map((stack) => ({ owner: { ...OWNER, stack }, labels: {} }));
			const outcomes = await Promise.allSettled(
				takers.map((attribution) => bench.newCaller().do("claim", { handle: old, attribution })),
			);
			const won = outcomes.filter((outcome) => outcome.status === "fulfilled");
			assert.equal(won.length, 1, "more than one, or none, has it");
			await bench.caller.do("waitReady", won[0]?.value ?? old);
		},
	},
];
