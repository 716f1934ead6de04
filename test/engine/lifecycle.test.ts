import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, processesOf, until } from "./support/processes";
import { TestStack } from "./support/test-stack";

const BOX = `
const box = new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });
exports.box = { id: box.sandboxId, phase: box.phase, workspaceDir: box.workspaceDir, lease: box.lease, reachability: box.reachability, controls: box.controls, handle: box.handle };
exports.credentials = box.credentials;
`;

interface Box {
	readonly box: { id: string; phase: string; workspaceDir: string; lease: { readyAt: string; expiresAt: string } };
}

describe("a sandbox on the real engine", () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = await new TestStack(BOX).init();
	});

	afterEach(async () => {
		await stack.dispose();
		expect(processesOf(stack.folder)).toEqual([]);
	});

	it("comes up, is unchanged on the second up and on refresh, and leaves nothing after destroy", async () => {
		await stack.up();
		const { box } = await stack.outputs<Box>();
		expect(box.phase).toBe("ready");
		expect(Date.parse(box.lease.expiresAt) - Date.parse(box.lease.readyAt)).toBe(600_000);
		expect((await stack.ok(["stack", "output", "--json"])).stdout).toMatch(/"credentials": "\[secret\]"/);
		expect((await stack.ok(["stack", "output", "--json", "--show-secrets"])).stdout).toMatch(/"credentials": \{\}/);
		const { supervisor, init } = stack.record(box.id);
		expect([supervisor, init].every(isRunning)).toBe(true);
		expect((await stack.up()).text).toMatch(/3 unchanged/);
		await stack.ok(["refresh", "--yes", "--expect-no-changes"]);
		await stack.ok(["preview", "--expect-no-changes"]);
		expect(stack.record(box.id).init.pid).toBe(init.pid);
		await stack.destroy();
		expect([supervisor, init].some(isRunning)).toBe(false);
		expect(readdirSync(join(stack.sandboxes, "bwrap"))).toEqual([]);
		expect((await stack.destroy()).code).toBe(0);
	});

	it("is made again after it was killed: refresh shows it, keeps it in the state, up replaces it", async () => {
		await stack.up();
		const { box } = await stack.outputs<Box>();
		process.kill(stack.record(box.id).supervisor.pid, "SIGKILL");
		await until("the sandbox is dead", () => processesOf(stack.folder).length === 0);
		const refreshed = await stack.refresh();
		expect(refreshed.text).toMatch(/does not run any more/);
		expect((await stack.sandboxResources())[0]?.outputs?.phase).toBe("gone");
		expect((await stack.up()).text).toMatch(/1 replaced/);
		expect(isRunning(stack.record(box.id).init)).toBe(true);
		expect(stack.sandboxFolders()).toEqual([box.id]);
	});

	it("is made again after its folder and processes are both gone: refresh drops it", async () => {
		await stack.up();
		const { box } = await stack.outputs<Box>();
		await stack
			.ok(["state", "protect", "--all", "--yes"])
			.then(() => stack.ok(["state", "unprotect", "--all", "--yes"]));
		const exported = join(stack.folder, "state.json");
		writeFileSync(exported, (await stack.exported()).text);
		await stack.destroy();
		await stack.ok(["stack", "import", "--file", exported]);
		const refreshed = await stack.refresh();
		expect(refreshed.text).toMatch(/is gone/);
		expect(await stack.sandboxResources()).toEqual([]);
		await stack.up();
		expect(stack.sandboxFolders()).toEqual([box.id]);
	});

	it("changes its lease in place, and shows a capped one", async () => {
		await stack.up();
		const { box } = await stack.outputs<Box>();
		const { init } = stack.record(box.id);
		stack.program(BOX.replace("10m", "20m"));
		expect((await stack.up()).text).toMatch(/1 updated/);
		const longer = (await stack.outputs<Box>()).box;
		expect(Date.parse(longer.lease.expiresAt) - Date.parse(box.lease.readyAt)).toBe(1_200_000);
		stack.program(BOX.replace("10m", "40h"));
		expect((await stack.up()).text).toMatch(/ttl 40h is capped at the profile's max 24h/);
		const capped = (await stack.outputs<Box>()).box;
		expect(Date.parse(capped.lease.expiresAt) - Date.parse(box.lease.readyAt)).toBe(24 * 3_600_000);
		expect(stack.record(box.id).init.pid).toBe(init.pid);
	});

	it("ends at its deadline with no client left, and is then shown as expired", async () => {
		stack.program(BOX.replace("10m", "5s"));
		await stack.up();
		const { box } = await stack.outputs<Box>();
		await until("the lease has ended it", () => processesOf(stack.folder).length === 0, 30_000);
		expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(box.lease.expiresAt) - 100);
		await stack.refresh();
		expect((await stack.sandboxResources())[0]?.outputs?.phase).toBe("expired");
		expect((await stack.up()).text).toMatch(/1 replaced/);
	});

	it("keeps what is left of an expired one with onExpired: keep", async () => {
		stack.program(BOX.replace('ttl: "10m"', 'ttl: "5s", onExpired: "keep"'));
		await stack.up();
		await until("the lease has ended it", () => processesOf(stack.folder).length === 0, 30_000);
		await stack.refresh();
		expect((await stack.up()).text).toMatch(/3 unchanged/);
		expect(stack.sandboxFolders()).toHaveLength(1);
	});
});
