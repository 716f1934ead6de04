import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, processesOf, until } from "./support/processes";
import { TestStack } from "./support/test-stack";

const program = (args: string, ttl: string) => `
const profile = { extension: "ext.bwrap", isolation: { level: "process" }, ttl: ${ttl} };
const box = new Sandbox("box", { profile, ${args} });
exports.box = { id: box.sandboxId, lease: box.lease, controls: box.controls };
`;

interface Box {
	readonly box: {
		id: string;
		lease: { readyAt: string; expiresAt: string };
		controls: Record<string, { status: string; note: string }>;
	};
}

describe("a lease on the real engine", () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = await new TestStack("").init();
	});

	afterEach(async () => {
		await stack.dispose();
		expect(processesOf(stack.folder)).toEqual([]);
	});

	const box = async () => (await stack.outputs<Box>()).box;
	const phase = async () => (await stack.sandboxResources())[0]?.outputs?.["phase"];

	describe.each([
		["its deadline", 'ttl: "5s"', '{ default: "1h", max: "4h" }', /its lease ends \S+Z/],
		["its idle limit", 'ttl: "1h"', '{ default: "1h", max: "4h", idleReap: "5s" }', /it was idle for \d+s/],
	])("once %s has ended it", (_what, ttl, terms, why) => {
		it.each([
			["recreate", "makes it again", /1 replaced/],
			["keep", "leaves what is left of it", /3 unchanged/],
		])("onExpired: %s %s", async (onExpired, _does, outcome) => {
			stack.program(program(`${ttl}, onExpired: "${onExpired}"`, terms));
			await stack.up();
			const before = await box();
			const folder = join(stack.sandboxes, "bwrap", before.id);
			const { generation } = stack.record(before.id);
			await until("it is over", () => processesOf(stack.folder).length === 0, 60_000);
			expect((await stack.refresh()).text).toMatch(why);
			expect(await phase()).toBe("expired");
			expect((await stack.up()).text).toMatch(outcome);
			expect(await phase()).toBe(onExpired === "keep" ? "expired" : "ready");
			const after = stack.record((await box()).id);
			expect(after.generation > generation).toBe(onExpired === "recreate");
			expect(stack.sandboxFolders()).toHaveLength(1);
			if (onExpired === "keep") expect(readFileSync(join(folder, "verdict"), "utf8")).toMatch(/^(over|idle) /);
		});
	});

	it("takes another longest lease and another idle limit in place", async () => {
		stack.program(program('ttl: "8h"', '{ default: "1h", max: "2h" }'));
		await stack.up();
		const { id, lease, controls } = await box();
		const { init } = stack.record(id);
		const hours = (end: string) => (Date.parse(end) - Date.parse(lease.readyAt)) / 3_600_000;
		expect(hours(lease.expiresAt)).toBe(2);
		expect(controls["idle"]?.status).toBe("unsupported");
		stack.program(program('ttl: "8h"', '{ default: "1h", max: "6h", idleReap: "30m" }'));
		expect((await stack.up()).text).toMatch(/1 updated/);
		expect(hours((await box()).lease.expiresAt)).toBe(6);
		expect(stack.record(id)).toMatchObject({ max_ttl_seconds: 6 * 3600, idle_seconds: 1800 });
		expect((await box()).controls["idle"]?.status).toBe("enforced");
		await stack.ok(["refresh", "--yes", "--expect-no-changes"]);
		stack.program(program('ttl: "1h"', '{ default: "1h", max: "6h", idleReap: "30m" }'));
		await stack.up();
		expect(hours((await box()).lease.expiresAt)).toBe(1);
		expect(isRunning(init)).toBe(true);
		expect(stack.record(id).init.pid).toBe(init.pid);
	});
});
