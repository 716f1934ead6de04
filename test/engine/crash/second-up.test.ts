import { readdirSync, readlinkSync } from "node:fs";
import type { Checkpoint } from "../../../provider/contract/checkpoint";
import { HeldRun, PATIENCE_MS } from "../support/held-run";
import { expectDestroyed, expectOneLive } from "../support/one-live";
import { allProcesses, until } from "../support/processes";
import { type Outcome, TestStack } from "../support/test-stack";
import { isWhole, selection, some } from "./selection";

const BOX = 'new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });';

describe(`a second up while the provider of the first, whose CLI was killed, still runs: ${selection}`, () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = await new TestStack(BOX).init();
	});

	afterEach(async () => {
		await stack.dispose();
	});

	/** The first provider gives up half a minute after its CLI's death, so the engine's lock is taken away before that. */
	async function held(checkpoint: Checkpoint): Promise<HeldRun> {
		const first = await HeldRun.start(stack, "up", checkpoint);
		await stack.ok(["cancel", "--yes"]);
		return first;
	}

	it.each(
		some(1, ["provision:record-written", "provision:limits-made", "provision:started", "provision:recorded"] as const),
	)("waits until the first, at %s, has rolled back, and makes it anew", async (checkpoint) => {
		const first = await held(checkpoint);
		const second = stack.start(["up", "--yes", "--skip-preview"]);
		await until("the second up waits for the sandbox's lock", () => isLockWaitedFor(stack), PATIENCE_MS);
		await first.killCli();
		expect(first.providerRuns).toBe(true);
		first.go();
		expect(succeeded(await second.ended)).toBe(true);
		await first.untilProviderEnds();
		await expectOneLive(stack);
		await expectDestroyed(stack);
	});

	it.each(some(1, ["create:provisioned", "wait:probed", "create:ready"] as const))(
		"adopts what the first, at %s, has made, which the first then leaves alone",
		async (checkpoint) => {
			const first = await held(checkpoint);
			const [id = ""] = stack.sandboxFolders();
			const made = stack.record(id);
			await stack.up();
			await first.killCli();
			expect(first.providerRuns).toBe(true);
			first.go();
			await first.untilProviderEnds();
			await expectOneLive(stack);
			expect(stack.record(id)).toMatchObject({
				generation: made.generation,
				claim: made.claim + 1,
				supervisor: made.supervisor,
				init: made.init,
			});
			await expectDestroyed(stack);
		},
	);

	// It gives up after half a minute.
	if (isWhole)
		it("is not disturbed by a first one that never goes on and ends by itself", async () => {
			const first = await HeldRun.start(stack, "up", "provision:started");
			await first.killCli();
			await stack.ok(["cancel", "--yes"]);
			await stack.up();
			await first.untilProviderEnds();
			await expectOneLive(stack);
			await expectDestroyed(stack);
		});
});

/** Whether a flock(1) has a lock file of this stack's sandboxes open. */
function isLockWaitedFor(stack: TestStack): boolean {
	return allProcesses().some(
		({ pid, command }) =>
			/^(\S*\/)?flock /.test(command) && filesOf(pid).some((file) => file.startsWith(`${stack.sandboxes}/`)),
	);
}

/** What a process has open. */
function filesOf(pid: number): string[] {
	try {
		return readdirSync(`/proc/${pid}/fd`).map((number) => readlinkSync(`/proc/${pid}/fd/${number}`));
	} catch {
		return []; // ended meanwhile
	}
}

/** With what was printed, where it did not. */
function succeeded({ code, text }: Outcome): true | string {
	return code === 0 || text;
}
