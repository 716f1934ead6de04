import { extendLease } from "../../../extensions/bwrap/extend";
import { hasCode } from "../../../provider/errors";
import { HeldPlace, READY_UPTIME } from "./support/held-lease";
import { callFor } from "./support/host";

/** All of it: npm run test:leases. */
const ROUNDS = Number(process.env["SANDBOXER_LEASE_ROUNDS"] ?? 200);
const LANES = 4;

/** The lease ends here, by the held clock, unless it is renewed before. */
const TTL = 2;
const RENEWED_TTL = 12;

const call = callFor(new AbortController().signal);

/** Finer than a timer. */
async function pause(ms: number): Promise<void> {
	const end = performance.now() + ms;
	while (performance.now() < end) await new Promise(setImmediate);
}

/** When the renewal has the lock and looks at the supervisor, just before it puts its deadline. */
function firstLook({ site: { table } }: HeldPlace): Promise<void> {
	const isAlive = table.isAlive.bind(table);
	return new Promise((resolve) => {
		table.isAlive = (identity) => {
			resolve();
			return isAlive(identity);
		};
	});
}

describe("renewal against expiry", () => {
	/**
	 * How long the clock waits once the renewal is at it, in milliseconds: moved so that each of the two wins about half of
	 * the rounds, by a part of itself, for a busy machine may need many times what an idle one does.
	 */
	let head = 1;
	const wins = { renewal: 0, expiry: 0 };

	async function round(number: number): Promise<void> {
		const place = new HeldPlace();
		try {
			const lease = await place.lease(`box-${number}`, { ttlSeconds: TTL });
			const at = (ttl: number) => new Date(place.utcAtReady + ttl * 1000).toISOString();
			const looked = firstLook(place);
			const renewal = extendLease(place.site, lease.handle, at(RENEWED_TTL), call).then(
				(granted) => ({ granted }),
				(refused: unknown) => ({ refused }),
			);
			// One that fails before it looks has an outcome already.
			await Promise.race([looked, renewal]);
			await pause(Math.max(0, head + (Math.random() - 0.5) * 2));
			place.set(READY_UPTIME + TTL);
			lease.wake();
			const outcome = await renewal;
			if ("refused" in outcome) {
				if (!hasCode(outcome.refused, "gone")) throw outcome.refused;
				wins.expiry += 1;
				head = head * 1.15 + 0.1;
				await lease.over();
				expect((await lease.record())?.expires_at).toBe(at(TTL));
				return;
			}
			wins.renewal += 1;
			head = (head - 0.1) / 1.15;
			expect(outcome.granted).toBe(at(RENEWED_TTL));
			expect((await lease.record())?.expires_at).toBe(at(RENEWED_TTL));
			place.set(READY_UPTIME + RENEWED_TTL - 0.01);
			for (let looks = 0; looks < 3; looks++) {
				lease.wake();
				await pause(1);
			}
			// It runs, and says so: it has not ended early.
			expect({ runs: lease.runs, verdict: await lease.verdict() }).toEqual({
				runs: true,
				verdict: { kind: "obeys", deadline: READY_UPTIME + RENEWED_TTL },
			});
			place.set(READY_UPTIME + RENEWED_TTL);
			await lease.over();
		} finally {
			await place.dispose();
		}
	}

	it(`has one winner in each of ${ROUNDS} rounds: no end before a granted deadline, none that lives on`, async () => {
		let begun = 0;
		const lane = async () => {
			while (begun < ROUNDS) await round(begun++);
		};
		await Promise.all(Array.from({ length: LANES }, lane));
		// Rounds that only one of them could win would show nothing.
		expect(Math.min(wins.renewal, wins.expiry)).toBeGreaterThan(ROUNDS / 20);
		process.stderr.write(`renewal won ${wins.renewal} rounds, expiry ${wins.expiry}\n`);
	}, 3_600_000);
});
