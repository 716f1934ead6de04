import { randomInt } from "node:crypto";

/** `npm run test:matrix` runs everything, which takes a long time; `npm test` some of it, another part each time. */
export const isWhole = process.env.SANDBOXER_CRASH_ROWS === "all";

const seed = Number(process.env.SANDBOXER_CRASH_SEED ?? randomInt(1_000_000));

/** For the name of a group of tests: how to run the same part again. */
export const selection = isWhole ? "all of it" : `a part, the same again with SANDBOXER_CRASH_SEED=${seed}`;

/** Everything, or some at random: the same ones for the same seed. */
export function some<T>(count: number, all: readonly T[]): T[] {
	if (isWhole) return [...all];
	const random = mulberry32(seed);
	return all
		.map((one) => ({ one, rank: random() }))
		.sort((a, b) => a.rank - b.rank)
		.slice(0, count)
		.map(({ one }) => one);
}

/** Numbers from 0 to 1 (Tommy Ettinger's mulberry32). */
function mulberry32(start: number): () => number {
	let state = start;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
	};
}
