import { chmodSync } from "node:fs";
import { Bench } from "../../provider/conformance/bench";
import type { Case } from "../../provider/conformance/case";
import { planFor } from "../../provider/conformance/plan";
import { Staged } from "../extensions/bwrap/support/staged";
import { rootUser, USERS } from "../extensions/bwrap/support/users";
import { BwrapUnderTest } from "./support/bwrap";
import { BLIND, MUTANTS, type Mutant } from "./support/mutants";
import { Mutated } from "./support/mutated";

/** How many are tried in a run of all tests; `npm run test:mutations` tries all. */
const SAMPLE = 5;
/** A case that takes longer with a wrong variation has seen a command that does not end. */
const PATIENCE_MS = 15_000;
/** The slowest cases take some seconds, and a busy machine several times that. */
const PATIENCE_UNMUTATED_MS = 120_000;

const isWhole = process.env["CONFORMANCE_MUTANTS"] === "all";
/** Those that make a difference under somebody who can be tried here. */
const shown = MUTANTS.filter((mutant) => usersFor(mutant).length > 0);
const chosen = isWhole ? shown : sample(shown, SAMPLE);
const staged = new Staged();
let caught = 0;

afterAll(() => {
	staged.remove();
	process.stdout.write(`mutation score: ${caught} of ${chosen.length}\n`);
});

function sample<T>(all: readonly T[], size: number): T[] {
	const left = [...all];
	return Array.from({ length: size }, () => left.splice(Math.floor(Math.random() * left.length), 1)).flat();
}

/** Users under whom it makes a difference. */
function usersFor({ only }: Mutant) {
	return USERS.filter(({ name }) => only === undefined || name === only);
}

async function fails(one: Case, bench: Bench, patienceMs = PATIENCE_MS): Promise<boolean> {
	let timer: NodeJS.Timeout | undefined;
	const patience = new Promise<boolean>((resolve) => {
		timer = setTimeout(resolve, patienceMs, true);
	});
	const run = one.run(bench).then(
		() => false,
		() => true,
	);
	return Promise.race([run, patience]).finally(() => clearTimeout(timer));
}

describe("the kit sees that", () => {
	it.each(chosen.map((mutant) => [mutant.what, mutant] as const))("%s", async (_what, mutant) => {
		const [user = rootUser] = sample(usersFor(mutant), 1);
		const mutated = new Mutated(staged, [...BLIND, ...mutant.edits]);
		chmodSync(mutated.folder, 0o755);
		const tried = new BwrapUnderTest(staged, user, mutated);
		const adapter = tried.adapter();
		const bench = new Bench(adapter);
		try {
			const cases = planFor(adapter).flatMap((part) => part.cases.filter(({ name }) => mutant.seen.test(name)));
			expect(cases.length).toBeGreaterThan(0);
			// One that makes no sandbox at all would be seen by anybody.
			await bench.box();
			let seen = false;
			for (const one of cases) seen ||= await fails(one, bench);
			expect(seen ? "seen" : `not seen by ${cases.length} cases, as ${user.name}`).toBe("seen");
			caught++;
		} finally {
			await bench.abandon();
			await tried.sweep();
			tried.remove();
			mutated.remove();
		}
	});

	// Whatever they see, it is not what is there without any fault.
	it.each(USERS)("nothing is wrong with the extension itself, unprobed, as $name", async (user) => {
		const mutated = new Mutated(staged, BLIND);
		chmodSync(mutated.folder, 0o755);
		const tried = new BwrapUnderTest(staged, user, mutated);
		const adapter = tried.adapter();
		const bench = new Bench(adapter);
		try {
			const all = planFor(adapter).flatMap(({ cases }) => cases);
			for (const one of all.filter(({ name }) => chosen.some(({ seen }) => seen.test(name))))
				expect([one.name, await fails(one, bench, PATIENCE_UNMUTATED_MS)]).toEqual([one.name, false]);
		} finally {
			await bench.abandon();
			await tried.sweep();
			tried.remove();
			mutated.remove();
		}
	});
});
