import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestStack } from "../engine/support/test-stack";

/** One exported state a release, as it was left by an `up` of PROGRAM. `RECORD_STATE=0.1.0 npm test -- test/upgrade` makes one. */
const STATES = join(__dirname, "states");

const PROGRAM = `
new Sandbox("plain", { profile: "bwrap-local", ttl: "10m" });
new Sandbox("full", {
	profile: { id: "profile.written-out", version: "1", extension: "ext.bwrap", isolation: { level: "process" }, network: { default: "allow" }, resources: { memoryMb: 512 }, ttl: { default: "1h", max: "2h" } },
	ttl: "10m", sandboxId: "full-1", network: { default: "deny" }, resources: { memoryMb: 256 }, labels: { team: "a" },
	consumer: { actor: "agt", project: "p" }, timeouts: { create: "1m" }, onExpired: "keep",
});
`;

/** Paths of the machine that recorded it mean nothing in a preview, and have no place in the repository. */
function withoutPaths(text: string, folder: string): unknown {
	return JSON.parse(text.replaceAll(folder, "/srv/recorded"), (key, value: unknown) =>
		key === "sourcePosition" || key === "stackTrace" ? undefined : value,
	);
}

describe("states of earlier releases", () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = await new TestStack(PROGRAM).init();
	});

	afterEach(() => stack.dispose());

	const version = process.env["RECORD_STATE"];
	if (version !== undefined) {
		it(`records the state of ${version}`, async () => {
			await stack.up();
			const state = withoutPaths((await stack.exported()).text, stack.folder);
			writeFileSync(join(STATES, `${version}.json`), `${JSON.stringify(state, null, "\t")}\n`);
		});
	}

	it.each(readdirSync(STATES))("%s: a preview on top of it sees no change", async (file) => {
		const state = join(stack.folder, "recorded.json");
		writeFileSync(state, readFileSync(join(STATES, file), "utf8"));
		await stack.ok(["stack", "import", "--file", state]);
		await stack.ok(["preview", "--expect-no-changes"]);
		// Nothing of it is on this machine: destroy must find that out, not fail over it.
		stack.env = { ...stack.env, SANDBOXER_STATE_DIR: "/srv/recorded/sandboxes" };
		await stack.destroy();
	});
});
