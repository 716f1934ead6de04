import { HeldRun } from "../support/held-run";
import { expectDestroyed, expectOneLive } from "../support/one-live";
import { lookOutside, NOTHING } from "../support/outside-look";
import { TestStack } from "../support/test-stack";
import { selection, some } from "./selection";

const BOX = 'new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });';

/** Where the sandbox is half made, made, and ready but not yet told to the engine. */
const CHECKPOINTS = ["provision:workspace-copied", "provision:recorded", "create:ready"] as const;

describe(`Ctrl-C during a create: ${selection}`, () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = await new TestStack(BOX).init();
	});

	afterEach(async () => {
		await stack.dispose();
	});

	it.each(some(1, CHECKPOINTS))("once, at %s: the create ends, and the state holds the sandbox", async (checkpoint) => {
		const run = await HeldRun.start(stack, "up", checkpoint);
		await run.interruptCli(1);
		run.go();
		await run.cli.ended;
		await run.untilProviderEnds();
		await expectOneLive(stack);
		await stack.up();
		await expectOneLive(stack);
		await expectDestroyed(stack);
	});

	it.each(some(1, CHECKPOINTS))(
		"twice, at %s: the create is rolled back, and the next up gives exactly one",
		async (checkpoint) => {
			const run = await HeldRun.start(stack, "up", checkpoint);
			await run.interruptCli(2);
			run.go();
			expect((await run.cli.ended).code).not.toBe(0);
			await run.untilProviderEnds();
			expect(lookOutside(stack)).toEqual(NOTHING);
			await stack.ok(["cancel", "--yes"]);
			await stack.up();
			await expectOneLive(stack);
			await expectDestroyed(stack);
		},
	);
});
