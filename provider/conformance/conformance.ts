import type { ConformanceAdapter } from "./adapter";
import { Bench } from "./bench";
import type { PartName } from "./case";
import { planFor } from "./plan";
import { type PartOutcome, reportOf } from "./report";

/** What a test runner has as globals: jest, and those that are like it. */
interface Runner {
	describe(name: string, declare: () => void): void;
	it: ((name: string, run: () => Promise<void>) => void) & { skip(name: string, run: () => void): void };
	afterAll(work: () => Promise<void>): void;
}

/**
 * Declares the tests that an extension must pass, with the runner's own `describe`, `it` and `afterAll`. What the
 * extension says that it cannot do is one test: that it then refuses to. What the adapter gives no means to show is
 * skipped, by name. In the end a line a part is printed: only what passed whole is shown as supported.
 */
export function conformance(adapter: ConformanceAdapter): void {
	const { describe, it, afterAll } = globalThis as unknown as Runner;
	describe(`conformance of ${adapter.name}`, () => {
		const bench = new Bench(adapter);
		const plan = planFor(adapter);
		const outcomes = new Map<PartName, PartOutcome>();
		afterAll(async () => {
			const left = await bench.dispose();
			process.stdout.write(reportOf(adapter, plan, outcomes));
			if (left.length > 0) throw new Error(`Left behind: ${left.join("; ")}`);
		});
		for (const { name, supported, cases, notShown } of plan) {
			const outcome = { passed: 0, failed: 0 };
			outcomes.set(name, outcome);
			describe(supported ? name : `${name}: not supported`, () => {
				for (const one of cases)
					it(one.name, async () => {
						outcome.failed++;
						await one.run(bench);
						outcome.failed--;
						outcome.passed++;
					});
				for (const { name: what, missing } of notShown)
					it.skip(`${what} (not shown: needs ${missing.join(", ")})`, () => undefined);
			});
		}
	});
}
