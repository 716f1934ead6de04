import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { HeldRun, PATIENCE_MS } from "../support/held-run";
import { expectDestroyed } from "../support/one-live";
import { lookOutside } from "../support/outside-look";
import { processesOf, until } from "../support/processes";
import { TestStack } from "../support/test-stack";
import { selection, some } from "./selection";

const TTL_SECONDS = 20;
const BOX = `new Sandbox("box", { profile: "bwrap-local", ttl: "${TTL_SECONDS}s" });`;

interface Located {
	readonly handle: { readonly sandbox_id: string; readonly generation: number };
	readonly owner: { readonly scope: string; readonly project: string; readonly stack: string; readonly urn: string };
	readonly alive: boolean | undefined;
	readonly createdAt: string;
	readonly expiresAt?: string;
}

/** A create of which the engine knows nothing but that it began; a destroy never reaches the provider then. */
describe(`a killed create, followed by destroy alone: ${selection}`, () => {
	it.each(some(1, ["provision:started", "create:ready"] as const))(
		"at %s: the sandbox can be located, and ends at its deadline",
		async (checkpoint) => {
			const stack = await new TestStack(BOX).init();
			try {
				const run = await HeldRun.start(stack, "up", checkpoint);
				run.killProvider();
				process.kill(run.cli.pid, "SIGKILL");
				await run.cli.ended;
				expect(lookOutside(stack)).toMatchObject({ supervisors: 1, namespaces: 1 });
				await stack.ok(["cancel", "--yes"]);
				await stack.destroy();
				expect(await stack.sandboxResources()).toEqual([]);
				const [id = ""] = stack.sandboxFolders();
				const record = stack.record(id);
				const [located, ...others] = locate(stack);
				expect(others).toEqual([]);
				expect(located).toMatchObject({
					handle: { sandbox_id: id, generation: record.generation },
					owner: { scope: "test", project: "engine-test", stack: "test", urn: record.owner.urn },
				});
				// Until a create came to its end its lease is not begun: what is in force is counted from the create.
				const { createdAt, expiresAt } = located as Located;
				const earliest = Date.parse(createdAt) + TTL_SECONDS * 1000;
				expect(expiresAt === undefined).toBe(checkpoint === "provision:started");
				if (expiresAt !== undefined) expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(earliest);
				await until("its lease has ended it", () => processesOf(stack.folder).length === 0, PATIENCE_MS);
				expect(Date.now()).toBeGreaterThanOrEqual((expiresAt === undefined ? earliest : Date.parse(expiresAt)) - 100);
				expect(lookOutside(stack)).toMatchObject({ live: [], supervisors: 0, namespaces: 0 });
				expect(locate(stack)).toMatchObject([{ handle: { sandbox_id: id }, alive: false }]);
				// The owner's next up removes what is left and makes it anew.
				await stack.up();
				await expectDestroyed(stack);
			} finally {
				await stack.dispose();
			}
		},
	);
});

function locate(stack: TestStack): Located[] {
	const script = join(__dirname, "../support/locate.cjs");
	return JSON.parse(execFileSync(process.execPath, [script], { cwd: stack.folder, env: stack.env, encoding: "utf8" }));
}
