import { join } from "node:path";
import { removeGroupsOf } from "../extensions/bwrap/support/control-groups";
import { isRunning, processesOf, until } from "./support/processes";
import { TestStack } from "./support/test-stack";

const outputsOf = "exports.box = { id: box.sandboxId, handle: box.handle, urn: box.urn };";

function program(args: string, opts = "{}", name = "box"): string {
	return `const box = new Sandbox("${name}", { profile: "bwrap-local", ${args} }, ${opts});\n${outputsOf}`;
}

interface Box {
	readonly box: { id: string; handle: { generation: number; claim: number } };
}

describe("resource options", () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = await new TestStack(program('ttl: "10m"')).init();
		await stack.up();
	});

	afterEach(async () => {
		await stack.dispose();
		expect(processesOf(stack.folder)).toEqual([]);
	});

	const box = async () => (await stack.outputs<Box>()).box;

	it("ignoreChanges reaches the child: an ignored ttl changes nothing", async () => {
		stack.program(program('ttl: "20m"', '{ ignoreChanges: ["ttl"] }'));
		expect((await stack.up()).text).toMatch(/3 unchanged/);
	});

	it("replaceOnChanges reaches the child: the sandbox is another one afterwards, and the only one", async () => {
		const before = await box();
		stack.program(program('ttl: "20m"', '{ replaceOnChanges: ["ttl"] }'));
		expect((await stack.up()).text).toMatch(/1 replaced/);
		expect((await box()).handle.generation).toBeGreaterThan(before.handle.generation);
		expect(stack.sandboxFolders()).toHaveLength(1);
	});

	it("a forced replacement with the new one first never removes the new one", async () => {
		stack.program(program('ttl: "10m"', "{ deleteBeforeReplace: false }"));
		const [resource] = await stack.sandboxResources();
		await stack.ok(["up", "--yes", "--skip-preview", "--replace", resource?.urn ?? ""]);
		const { id } = await box();
		expect(isRunning(stack.record(id).init)).toBe(true);
		await stack.ok(["refresh", "--yes", "--expect-no-changes"]);
	});

	it("customTimeouts become the sandbox's own", async () => {
		stack.program(program('ttl: "10m"', '{ customTimeouts: { create: "90s", delete: "2m" } }'));
		await stack.up();
		expect((await stack.sandboxResources())[0]?.inputs?.["timeouts"]).toEqual({ create: "90s", delete: "2m" });
	});

	it("protect keeps it from being destroyed", async () => {
		stack.program(program('ttl: "10m"', "{ protect: true }"));
		await stack.up();
		const refused = await stack.run(["destroy", "--yes", "--skip-preview"]);
		expect(refused.code).not.toBe(0);
		expect(isRunning(stack.record((await box()).id).init)).toBe(true);
		await stack.ok(["state", "unprotect", "--all", "--yes"]);
	});

	it("an alias carries it over under another name: the same process, the new owner", async () => {
		const before = await box();
		const { init } = stack.record(before.id);
		stack.program(program('ttl: "10m"', '{ aliases: [{ name: "box" }] }', "renamed"));
		const outcome = await stack.up();
		expect(outcome.text).not.toMatch(/created|replaced|deleted/);
		const after = await box();
		expect(after.id).toBe(before.id);
		expect(stack.record(after.id).init.pid).toBe(init.pid);
		expect(stack.record(after.id).owner.urn).toMatch(/::renamed$/);
		expect(after.handle.claim).toBe(before.handle.claim + 1);
		expect((await stack.up()).text).toMatch(/3 unchanged/);
	});

	it("retainOnDelete means no teardown; the lease ends it", async () => {
		stack.program(program('ttl: "5s"', "{ retainOnDelete: true }"));
		await stack.up();
		const { id } = await box();
		const { init, cgroups } = stack.record(id);
		await stack.destroy();
		await until("its lease has ended it", () => !isRunning(init), 30_000);
		await removeGroupsOf(join(stack.sandboxes, "bwrap", id), id, cgroups);
	});

	it("deletedWith means no teardown where the other is deleted too; the lease ends it", async () => {
		stack.program(`
			const room = new Sandbox("room", { profile: "bwrap-local", ttl: "10m" });
			${program('ttl: "5s"', "{ deletedWith: room }")}`);
		await stack.up();
		const { id } = await box();
		const { init, cgroups } = stack.record(id);
		await stack.destroy();
		expect(stack.sandboxFolders()).toEqual([id]);
		await until("its lease has ended it", () => !isRunning(init), 30_000);
		await removeGroupsOf(join(stack.sandboxes, "bwrap", id), id, cgroups);
	});

	it("import is refused and points to adopt", async () => {
		stack.program(program('ttl: "10m"', '{ import: "demo" }'));
		const refused = await stack.run(["preview"]);
		expect(refused.code).not.toBe(0);
		expect(refused.text).toMatch(/`import` cannot work for a sandbox.*sandboxId: "demo", adopt: true/s);
	});

	it("dependsOn and parent work as for any component", async () => {
		stack.program(`
			const first = new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });
			const group = new pulumi.ComponentResource("test:index:Group", "group");
			const second = new Sandbox("second", { profile: "bwrap-local", ttl: "10m" }, { parent: group, dependsOn: [first] });
			exports.box = { id: second.sandboxId };
		`);
		await stack.up();
		const { resources } = await stack.exported();
		const second = resources.find(({ urn }) => urn.includes("test:index:Group$sandboxer:index:Sandbox::second"));
		expect(second).toBeDefined();
		expect(stack.sandboxFolders()).toHaveLength(2);
	});

	it("Sandbox.get reads one that is there, and destroys nothing", async () => {
		const { id } = await box();
		const other = await new TestStack(
			`const found = Sandbox.get("found", "${id}", { extension: "ext.bwrap" });\nexports.found = { phase: found.phase, workspaceDir: found.workspaceDir };`,
			{
				sharesSandboxesWith: stack,
				name: "reader",
			},
		).init();
		try {
			await other.up();
			expect(await other.outputs()).toMatchObject({
				found: { phase: "ready", workspaceDir: expect.stringContaining(id) },
			});
			await other.destroy();
			expect(isRunning(stack.record(id).init)).toBe(true);
		} finally {
			await other.dispose();
		}
	});
});
