import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { CHECKPOINTS } from "../../contract/checkpoint";
import type { Bench } from "../bench";
import type { Case } from "../case";
import { same } from "../judgement";
import type { Wish } from "../messages";

/** A create, killed at some moment; then it is asked for again, and there is exactly one. */
async function isTakenUp(bench: Bench, wish: Wish): Promise<void> {
	const { handle } = await bench.provision(wish);
	await bench.caller.do("waitReady", handle);
	await bench.isAlone(wish.sandboxId, handle);
	same((await bench.caller.do("teardown", handle)).remains, []);
	same(await bench.traces(handle), []);
}

/** A create, killed at some moment; what is found of it is removed, and nothing is left. */
async function isRemoved(bench: Bench, wish: Wish, isWritten: boolean): Promise<void> {
	const found = await bench.located({ sandboxId: wish.sandboxId });
	if (isWritten) assert.equal(found.length, 1, "what was written before it was killed is not found");
	for (const { handle, owner } of found) {
		same(owner, wish.owner);
		same((await bench.caller.do("teardown", handle)).remains, []);
	}
	const trace = await bench.traces(bench.named(wish));
	// Before anything was written there may be an empty place, and no more.
	if (trace.length > 0) await isTakenUp(bench, wish);
	same(await bench.traces(bench.named(wish)), []);
}

async function killAfter(bench: Bench, wish: Wish, milliseconds: number): Promise<void> {
	const caller = bench.newCaller();
	await caller.do("memory", undefined);
	const making = caller.begin("provision", wish);
	await delay(milliseconds);
	await caller.end("SIGKILL");
	await making.result.catch(() => undefined);
}

async function killAt(bench: Bench, wish: Wish, checkpoint: string): Promise<void> {
	const caller = bench.newCaller();
	await caller.do("dieAt", checkpoint);
	await assert.rejects(caller.do("provision", wish), /the calling process ended/, `${checkpoint} was not come to`);
}

const AFTER = [
	["takes up a create", isTakenUp],
	["finds and removes a create", isRemoved],
] as const;

export const LOST_CREATES: readonly Case[] = AFTER.flatMap(([what, then]): Case[] => [
	...CHECKPOINTS.filter((name) => name.startsWith("provision:")).map(
		(checkpoint): Case => ({
			name: `${what} that was killed at ${checkpoint}`,
			needs: [`checkpoint ${checkpoint}`, "locate"],
			run: async (bench) => {
				const wish = bench.wish();
				await killAt(bench, wish, checkpoint);
				await then(bench, wish, checkpoint !== "provision:locked");
			},
		}),
	),
	{
		name: `${what} that was killed at any moment`,
		needs: ["locate"],
		run: async (bench) => {
			const kills = bench.adapter.thorough === true ? 50 : 4;
			for (let kill = 0; kill < kills; kill++) {
				const wish = bench.wish();
				await killAfter(bench, wish, Math.random() * 60);
				await then(bench, wish, false);
			}
		},
	},
]);
