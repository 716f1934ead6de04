import { join } from "node:path";
import { HeldRun, stopping } from "../support/held-run";
import { expectDestroyed, expectOneLive } from "../support/one-live";
import { processesOf, until } from "../support/processes";
import { TestStack } from "../support/test-stack";

const BOX = 'new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });';

/** The state holds the handle of a sandbox whose wait failed, and which has died since: the next up makes it anew. */
describe("a killed up that makes a sandbox anew whose wait had failed", () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = await new TestStack(BOX).init();
		await stack.run(["up", "--yes", "--skip-preview"], stopping("wait:probed", join(stack.folder, "failed"), "throw"));
		const [waiting] = await stack.sandboxResources();
		expect(waiting?.outputs?.phase).toBe("waiting");
		process.kill(stack.record(waiting?.id ?? "").supervisor.pid, "SIGKILL");
		await until("the sandbox is dead", () => processesOf(stack.folder).length === 0);
	});

	afterEach(async () => {
		await stack.dispose();
	});

	async function killedAgain(): Promise<void> {
		const run = await HeldRun.start(stack, "up", "create:ready");
		run.killProvider();
		process.kill(run.cli.pid, "SIGKILL");
		await run.cli.ended;
		await stack.ok(["cancel", "--yes"]);
	}

	it("leaves a sandbox that destroy alone removes", async () => {
		await killedAgain();
		await expectDestroyed(stack);
	});

	it("leaves a sandbox that the next up goes on with", async () => {
		await killedAgain();
		await stack.up();
		await expectOneLive(stack);
		await expectDestroyed(stack);
	});

	it("leaves a second up's sandbox alone, where its provider lives on", async () => {
		const first = await HeldRun.start(stack, "up", "create:ready");
		await stack.ok(["cancel", "--yes"]);
		await stack.up();
		await first.killCli();
		expect(first.providerRuns).toBe(true);
		first.go();
		await first.untilProviderEnds();
		await expectOneLive(stack);
		await expectDestroyed(stack);
	});
});
