import type { ConformanceAdapter } from "./adapter";
import { Bench } from "./bench";
import { planFor } from "./plan";

/** What a test runner has as globals: jest, and those that are like it. */
interface Runner {
	describe(name: string, declare: () => void): void;
	it: ((name: string, run: () => Promise<void>) => void) & { skip(name: string, run: () => void): void };
	beforeAll(work: () => void): void;
	afterAll(work: () => Promise<void>): void;
}

/**
 * Declares the tests that an extension must pass, with the runner's own `describe` and `it`. What the extension says
 * that it cannot do is one test, that it then refuses to; what the adapter gives no means to show is skipped, by name.
 */
export function conformance(adapter: ConformanceAdapter): void {
	const { describe, it, afterAll } = globalThis as unknown as Runner;
	describe(`conformance of ${adapter.name}`, () => {
		const bench = new Bench(adapter);
		afterAll(async () => {
			const left = await bench.dispose();
			if (left.length > 0) throw new Error(`Left behind: ${left.join("; ")}`);
		});
		for (const { name, supported, cases, notShown } of planFor(adapter)) {
			describe(supported ? name : `${name}: not supported`, () => {
				for (const one of cases) it(one.name, () => one.run(bench));
				for (const { name: what, missing } of notShown)
					it.skip(`${what} (not shown: ${missing.join(", ")})`, () => undefined);
			});
		}
	});
}
