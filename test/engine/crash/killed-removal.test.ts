import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HeldRun } from "../support/held-run";
import { expectDestroyed } from "../support/one-live";
import { TestStack } from "../support/test-stack";

const BOX = 'new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });';

describe("a destroy that was killed between the last two steps of the removal of the folder", () => {
	it("has left the record in a folder of another name, which the next destroy removes", async () => {
		const stack = await new TestStack(BOX).init();
		try {
			await stack.up();
			const run = await HeldRun.start(stack, "destroy", "teardown:limits-removed");
			run.killProvider();
			await run.cli.ended;
			emptiedAndRenamed(stack);
			await expectDestroyed(stack);
		} finally {
			await stack.dispose();
		}
	});
});

/** As provider/workspace/remove-tree.ts does it; no checkpoint is in there. */
function emptiedAndRenamed(stack: TestStack): void {
	const base = join(stack.sandboxes, "bwrap");
	const [id = ""] = stack.sandboxFolders();
	for (const name of readdirSync(join(base, id)).filter((name) => name !== "record.json"))
		rmSync(join(base, id, name), { recursive: true });
	renameSync(join(base, id), join(base, `.${id}.removing`));
}
