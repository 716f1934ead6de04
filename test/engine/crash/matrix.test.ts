import { CHECKPOINTS } from "../../../provider/contract/checkpoint";
import { HeldRun } from "../support/held-run";
import { expectDestroyed, expectOneLive } from "../support/one-live";
import { lookOutside } from "../support/outside-look";
import { TestStack } from "../support/test-stack";
import { allRows, KILLS, type Kill, type Row } from "./rows";
import { isWhole, selection, some } from "./selection";

const BOX = 'new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });';

describe(`SIGKILL at a checkpoint: ${selection}`, () => {
	it("is tried at every checkpoint of create and delete, in three ways", () => {
		expect(CHECKPOINTS.length).toBeGreaterThanOrEqual(12);
		for (const checkpoint of CHECKPOINTS)
			expect(
				allRows()
					.filter((row) => row.checkpoint === checkpoint)
					.map(({ kill }) => kill),
			).toEqual(KILLS);
	});

	it.each(some(4, allRows()))(
		"$command at $checkpoint, of $kill: the next up gives exactly one, destroy leaves nothing",
		async (row) => {
			const stack = await new TestStack(BOX).init();
			try {
				await killed(stack, row);
				await stack.ok(["cancel", "--yes"]);
				await stack.ok(UP[row.command]);
				await expectOneLive(stack);
				await expectDestroyed(stack);
			} finally {
				await stack.dispose();
			}
		},
	);

	if (isWhole)
		it("is not seen where there was none: a create of more than two minutes is not rolled back", async () => {
			const stack = await new TestStack(BOX).init();
			try {
				const run = await HeldRun.start(stack, "up", "provision:record-written");
				// The engine's gRPC server hangs up after 120 s on a client that says nothing.
				await new Promise((resolve) => setTimeout(resolve, 125_000));
				run.go();
				const { code, text } = await run.cli.ended;
				expect(code === 0 || text).toBe(true);
				await expectOneLive(stack);
			} finally {
				await stack.dispose();
			}
		});
});

/** A destroy that was cut off leaves a state that is not true any more: a refresh has to look. */
const UP = { up: ["up", "--yes", "--skip-preview"], destroy: ["up", "--yes", "--skip-preview", "--refresh"] } as const;

async function killed(stack: TestStack, { command, checkpoint, kill }: Row): Promise<void> {
	if (command === "destroy") await stack.up();
	const run = await HeldRun.start(stack, command, checkpoint);
	await DEATHS[kill](run);
	expect(run.providerRuns).toBe(false);
	if (kill === "cli" && command === "up")
		expect(lookOutside(stack)).toMatchObject({ names: [], live: [], cgroups: [] });
}

const DEATHS: Readonly<Record<Kill, (run: HeldRun) => Promise<void>>> = {
	cli: async (run) => {
		await run.killCli();
		expect(run.providerRuns).toBe(true);
		run.go();
		await run.untilProviderEnds();
	},
	provider: async (run) => {
		run.killProvider();
		expect((await run.cli.ended).code).not.toBe(0);
		await run.untilProviderEnds();
	},
	both: async (run) => {
		run.killProvider();
		process.kill(run.cli.pid, "SIGKILL");
		await run.cli.ended;
		await run.untilProviderEnds();
	},
};
