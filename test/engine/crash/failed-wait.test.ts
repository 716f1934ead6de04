import { join } from "node:path";
import { CHECKPOINTS, type Checkpoint } from "../../../provider/contract/checkpoint";
import { stopping } from "../support/held-run";
import { expectDestroyed, expectOneLive } from "../support/one-live";
import { lookOutside, NOTHING } from "../support/outside-look";
import { type Outcome, TestStack } from "../support/test-stack";

const BOX = 'new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });';
const RAN_OUT = (checkpoint: Checkpoint) => `The test let ${checkpoint} run out. Run pulumi up again.`;

describe("a create in which something fails", () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = await new TestStack(BOX).init();
	});

	afterEach(async () => {
		await stack.dispose();
	});

	async function upFailingAt(checkpoint: Checkpoint): Promise<Outcome> {
		const file = join(stack.folder, checkpoint.replace(":", "-"));
		const outcome = await stack.run(["up", "--yes", "--skip-preview"], stopping(checkpoint, file, "throw"));
		expect(outcome.text).toContain(RAN_OUT(checkpoint));
		expect(outcome.code).not.toBe(0);
		return outcome;
	}

	it("holds a sandbox in the state whose wait failed, and the next up goes on with the same one", async () => {
		await upFailingAt("wait:probed");
		const [waiting] = await stack.sandboxResources();
		const id = waiting?.id ?? "";
		expect(waiting?.outputs?.phase).toBe("waiting");
		expect(waiting?.initErrors).toEqual([RAN_OUT("wait:probed")]);
		const before = stack.record(id);
		expect(waiting?.outputs?.handle).toMatchObject({ generation: before.generation, claim: before.claim });
		await stack.up();
		await expectOneLive(stack);
		expect(stack.record(id)).toMatchObject({
			generation: before.generation,
			claim: before.claim,
			supervisor: before.supervisor,
			init: before.init,
		});
		expect((await stack.up()).text).toMatch(/3 unchanged/);
		await expectDestroyed(stack);
	});

	it("fails again, with the same sandbox in the state, where the wait fails again", async () => {
		await upFailingAt("wait:probed");
		const [first] = await stack.sandboxResources();
		const again = await stack.run(
			["up", "--yes", "--skip-preview"],
			stopping("wait:probed", join(stack.folder, "again"), "throw"),
		);
		expect(again.text).toContain(RAN_OUT("wait:probed"));
		const [second] = await stack.sandboxResources();
		expect(second?.outputs?.handle).toEqual(first?.outputs?.handle);
		expect(second?.outputs?.phase).toBe("waiting");
		expect(second?.initErrors).toEqual([RAN_OUT("wait:probed")]);
		await expectDestroyed(stack);
	});

	it("leaves nothing, here or in the state, wherever provision fails", async () => {
		for (const checkpoint of CHECKPOINTS.filter((name) => name.startsWith("provision:"))) {
			await upFailingAt(checkpoint);
			expect({ checkpoint, ...lookOutside(stack) }).toEqual({ checkpoint, ...NOTHING });
			expect(await stack.sandboxResources()).toEqual([]);
		}
		await stack.up();
		await expectOneLive(stack);
	});
});
