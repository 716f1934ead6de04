import { isRunning, processesOf } from "../support/processes";
import { TestStack } from "../support/test-stack";

const demo = (args = "", name = "box", opts = "{}") =>
	`const box = new Sandbox("${name}", { profile: "bwrap-local", ttl: "10m", sandboxId: "demo", ${args} }, ${opts});\nexports.box = { id: box.sandboxId, handle: box.handle };`;

const generated =
	'const box = new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });\nexports.box = { id: box.sandboxId, handle: box.handle };';

interface Box {
	readonly box: { id: string; handle: { generation: number; pid: number; start_ticks: number } };
}

describe("case 04: the same id twice", () => {
	const stacks: TestStack[] = [];

	async function stack(program: string, options: ConstructorParameters<typeof TestStack>[1] = {}): Promise<TestStack> {
		const [first] = stacks;
		const made = await new TestStack(program, {
			...options,
			...(first === undefined ? {} : { sharesSandboxesWith: first }),
		}).init();
		stacks.push(made);
		return made;
	}

	afterEach(async () => {
		const [first] = stacks;
		for (const made of stacks.splice(0).reverse()) await made.dispose();
		expect(first === undefined ? [] : processesOf(first.folder)).toEqual([]);
	});

	it("same explicit id, two stacks: the second is refused with the owner's name, its destroy touches nothing", async () => {
		const alice = await stack(demo(), { name: "alice" });
		const bob = await stack(demo(), { name: "bob" });
		await alice.up();
		const { supervisor, init } = alice.record("demo");
		const refused = await bob.run(["up", "--yes", "--skip-preview"]);
		expect(refused.code).not.toBe(0);
		expect(refused.text).toMatch(/Sandbox demo belongs to urn:pulumi:alice::.*stack alice.*adopt: true/s);
		await bob.destroy();
		expect([supervisor, init].every(isRunning)).toBe(true);
		await alice.ok(["refresh", "--yes", "--expect-no-changes"]);
	});

	it("same explicit id, both at once: one wins", async () => {
		const alice = await stack(demo(), { name: "alice" });
		const bob = await stack(demo(), { name: "bob" });
		const outcomes = await Promise.all([alice, bob].map((each) => each.run(["up", "--yes", "--skip-preview"])));
		expect(outcomes.filter(({ code }) => code === 0)).toHaveLength(1);
		expect(outcomes.find(({ code }) => code !== 0)?.text).toMatch(/Sandbox demo belongs to/);
		expect(alice.sandboxFolders()).toEqual(["demo"]);
	});

	it("same repo, generated ids, one host: two sandboxes, and destroying one leaves the other", async () => {
		const one = await stack(
			'exports.ids = ["box-a", "box-b"].slice(0, new pulumi.Config().getNumber("count") ?? 2).map((name) => new Sandbox(name, { profile: "bwrap-local", ttl: "10m" }).sandboxId);',
		);
		await one.up();
		expect(one.sandboxFolders()).toHaveLength(2);
		await one.ok(["config", "set", "count", "1"]);
		await one.up();
		expect(one.sandboxFolders()).toHaveLength(1);
		expect(isRunning(one.record(one.sandboxFolders()[0] ?? "").init)).toBe(true);
	});

	it("replacement keeps the explicit id: the old one goes first, the new one is a later life", async () => {
		const one = await stack(demo("resources: { memoryMb: 128 },"));
		await one.up();
		const before = (await one.outputs<Box>()).box.handle;
		one.program(demo("resources: { memoryMb: 256 },"));
		expect((await one.up()).text).toMatch(/1 replaced/);
		const after = (await one.outputs<Box>()).box.handle;
		expect(after.generation).toBeGreaterThan(before.generation);
		expect(isRunning(before)).toBe(false);
		expect(isRunning(after)).toBe(true);
	});

	it("resource renamed in code, id kept: refused while the old one is there, unless it is adopted", async () => {
		const one = await stack(demo());
		await one.up();
		const { init } = one.record("demo");
		one.program(demo("", "box2"));
		const refused = await one.run(["up", "--yes", "--skip-preview"]);
		expect(refused.code).not.toBe(0);
		expect(refused.text).toMatch(/Sandbox demo belongs to .*::box /);
		expect(isRunning(init)).toBe(true);
		one.program(demo("adopt: true,", "box2"));
		const adopted = await one.up();
		expect(adopted.text).toMatch(/taking over sandbox demo/);
		expect(one.record("demo").init.pid).toBe(init.pid);
		expect(isRunning(init)).toBe(true);
		expect((await one.sandboxResources()).map(({ urn }) => urn.split("::").at(-1))).toEqual(["box2"]);
		await one.destroy();
		expect(isRunning(init)).toBe(false);
	});

	it("adopt refuses one that was made with other settings, and leaves it alone", async () => {
		const alice = await stack(demo(), { name: "alice" });
		const bob = await stack(demo("adopt: true, resources: { memoryMb: 64 },"), { name: "bob" });
		await alice.up();
		const refused = await bob.run(["up", "--yes", "--skip-preview"]);
		expect(refused.text).toMatch(/Sandbox demo of .*cannot be adopted: it was made with other settings/);
		expect(isRunning(alice.record("demo").init)).toBe(true);
	});

	it("two clones of one program, same project and stack name, each with its own state: neither touches the other's", async () => {
		const config = { "sandboxer:scope": "" };
		const one = await stack(generated, { config });
		const two = await stack(generated, { config });
		await one.up();
		await two.up();
		expect(one.sandboxFolders()).toHaveLength(2);
		const { id } = (await one.outputs<Box>()).box;
		await two.destroy();
		expect(one.sandboxFolders()).toEqual([id]);
		await one.ok(["refresh", "--yes", "--expect-no-changes"]);
	});
});
