import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expectDestroyed, expectOneLive } from "../support/one-live";
import { TestStack } from "../support/test-stack";

const BOX = 'new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });';

/**
 * A bwrap whose first process is held up for a while after it has started the command, as on a busy machine:
 * it locks the files it is told to before it gives up its rights, and the opening of a pipe waits for a writer.
 */
const SLOW_BWRAP = `#!/bin/sh
PATH=\${PATH#*:}
before= workspace=
for word; do
	[ "$word" != /workspace ] || [ -n "$workspace" ] || workspace=$before
	before=$word
done
[ -n "$workspace" ] || exec bwrap "$@"
mkfifo "$workspace/slow"
{ sleep 1; : >"$workspace/slow"; rm "$workspace/slow"; } >/dev/null 2>&1 3>&- 4>&- 6>&- &
exec bwrap --lock-file /workspace/slow "$@"
`;

describe("a sandbox whose first process filters itself late", () => {
	it("is waited for, not taken for one without a filter", async () => {
		const stack = await new TestStack(BOX).init();
		try {
			stack.write("slow/bwrap", SLOW_BWRAP);
			chmodSync(join(stack.folder, "slow"), 0o755);
			chmodSync(join(stack.folder, "slow", "bwrap"), 0o755);
			stack.env = { ...stack.env, PATH: `${join(stack.folder, "slow")}:${stack.env["PATH"]}` };
			await stack.up();
			await expectOneLive(stack);
			await expectDestroyed(stack);
		} finally {
			await stack.dispose();
		}
	});
});
