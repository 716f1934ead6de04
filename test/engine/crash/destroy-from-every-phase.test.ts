import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stopping } from "../support/held-run";
import { expectDestroyed } from "../support/one-live";
import { processesOf, until } from "../support/processes";
import { TestStack } from "../support/test-stack";

const BOX = (ttl: string) => `new Sandbox("box", { profile: "bwrap-local", ttl: "${ttl}" });`;

/** What brings a sandbox into a phase, as the state then says. */
const PHASES: Readonly<Record<string, (stack: TestStack) => Promise<unknown>>> = {
	ready: (stack) => stack.up(),
	waiting: (stack) =>
		stack.run(["up", "--yes", "--skip-preview"], stopping("wait:probed", join(stack.folder, "stopped"), "throw")),
	gone: async (stack) => {
		await stack.up();
		process.kill(stack.record(await idOf(stack)).supervisor.pid, "SIGKILL");
		await untilDead(stack);
		await stack.refresh();
	},
	expired: async (stack) => {
		stack.program(BOX("5s"));
		await stack.up();
		await untilDead(stack);
		await stack.refresh();
	},
	altered: async (stack) => {
		await stack.up();
		// What whoever enters reads again: it is not the sandbox any more that it was made as.
		writeFileSync(join(stack.sandboxes, "bwrap", await idOf(stack), "control", "id"), "another 1\n");
		await stack.refresh();
	},
};

async function idOf(stack: TestStack): Promise<string> {
	return (await stack.sandboxResources())[0]?.id ?? "";
}

function untilDead(stack: TestStack): Promise<void> {
	return until("the sandbox is dead", () => processesOf(stack.folder).length === 0);
}

describe("destroy", () => {
	it.each(Object.entries(PHASES))("three times, of a sandbox that is %s, leaves nothing", async (phase, bring) => {
		const stack = await new TestStack(BOX("10m")).init();
		try {
			await bring(stack);
			const [resource, ...others] = await stack.sandboxResources();
			expect(others).toEqual([]);
			expect(resource?.outputs?.phase).toBe(phase);
			await expectDestroyed(stack);
		} finally {
			await stack.dispose();
		}
	});

	it("three times, of a sandbox that is dead and of which the state still says that it is ready, leaves nothing", async () => {
		const stack = await new TestStack(BOX("5s")).init();
		try {
			await stack.up();
			await untilDead(stack);
			await expectDestroyed(stack);
		} finally {
			await stack.dispose();
		}
	});
});
