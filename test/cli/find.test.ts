import { Desk } from "./support/desk";

interface Listing {
	readonly sandboxes: readonly { sandboxId: string; state: string; handle: object }[];
	readonly failures: readonly { message: string; details: { extension: string } }[];
}

describe("list and show", () => {
	const desk = new Desk();
	beforeEach(() => desk.clear());
	afterAll(() => desk.dispose());

	it("nothing there says so", async () => {
		expect(await desk.run(["list"])).toEqual({ code: 0, stdout: "No sandboxes.\n", stderr: "" });
		expect((await desk.json(["list"])).document).toEqual({ sandboxes: [], failures: [] });
	});

	it("list: a line each, with where it stands", async () => {
		desk.box("fresh");
		desk.box("over", { endsInMinutes: -90 });
		desk.box("dead", { alive: false });
		desk.box("who-knows", { alive: undefined });
		desk.box("begun", { phase: "provisioning" });
		const { code, stdout, stderr } = await desk.run(["list"]);
		expect([code, stderr]).toEqual([0, ""]);
		const lines = stdout.trimEnd().split("\n");
		expect(lines[0]).toMatch(/^SANDBOX {4}EXTENSION {2}STATE {9}ENDS +PROFILE +OWNER$/);
		expect(lines[3]).toMatch(
			/^fresh +ext\.paper +ready +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \(in 60 min\) +profile\.paper +shop\/dev\/fresh$/,
		);
		const states = (await desk.json<Listing>(["list"])).document.sandboxes.map(({ sandboxId, state }) => [
			sandboxId,
			state,
		]);
		expect(Object.fromEntries(states)).toEqual({
			fresh: "ready",
			over: "expired",
			dead: "gone",
			"who-knows": "unknown",
			begun: "provisioning",
		});
	});

	it("a name from somewhere else does not reach the terminal as a control character", async () => {
		desk.box("evil", { urn: "urn:pulumi:dev::shop::x::\u001b]0;owned\u0007\u202e" });
		const { stdout } = await desk.run(["list"]);
		expect(stdout).toContain("shop/dev/\\x1b]0;owned\\x07\\u202e");
	});

	it("show: by its id; all there is, and never a credential", async () => {
		const handle = desk.box("box", { labels: { why: "test" }, consumer: { actor: "agt", project: "p" } });
		const { code, stdout } = await desk.run(["show", "box"]);
		expect(code).toBe(0);
		expect(stdout).toMatch(/^state: +ready$/m);
		expect(stdout).toMatch(/^labels: +why=test$/m);
		expect(stdout).toMatch(/^ {2}isolation {2}unsupported {2}paper holds nothing back$/m);
		const { document, stdout: text } = await desk.json(["show", "box"]);
		expect(document).toMatchObject({
			sandbox: { sandboxId: "box", extension: "ext.paper", state: "ready", handle, consumer: { actor: "agt" } },
			lease: { expiresAt: expect.any(String) },
			controls: { isolation: { status: "unsupported" } },
			problem: null,
		});
		expect(stdout + text).not.toContain("canary");
	});

	it("list and show: where the clock that decides is another, the time left is by that one, and show says so", async () => {
		desk.box("box", { endsInMinutes: 60, clockAheadSeconds: -1200, isOver: false });
		expect((await desk.run(["list"])).stdout).toMatch(/^box .*\(in 40 min\)/m);
		const { stdout } = await desk.run(["show", "box"]);
		expect(stdout).toMatch(/^clock: +this machine's is 1200 s behind the one that decides on the lease$/m);
		expect(stdout).toMatch(/^ends: .*\(in 40 min\)$/m);
		expect((await desk.json(["show", "box"])).document).toMatchObject({ sandbox: { clockAheadSeconds: -1200 } });
	});

	it("show of one that cannot be used: what is known, why, and status 1", async () => {
		desk.box("box", { alive: false });
		const { code, stdout, stderr } = await desk.run(["show", "box"]);
		expect(code).toBe(1);
		expect(stdout).toMatch(/^state: +gone$/m);
		expect(stderr).toBe("error: Paper box does not run any more.\nhint: Remove the rest.\n");
		const { document, code: same } = await desk.json(["show", "box"]);
		expect(same).toBe(1);
		expect(document).toMatchObject({ sandbox: { state: "gone" }, controls: null, problem: { code: "remains" } });
	});

	it("show by a handle, of an extension that cannot find its sandboxes: seen ready, it is ready", async () => {
		const input = JSON.stringify(desk.box("box"));
		const { document } = await desk.json(["show", "-"], { input, env: { PAPER_CANNOT: "locate" } });
		expect(document).toMatchObject({
			sandbox: { state: "ready", phase: null },
			lease: { readyAt: expect.any(String) },
		});
		const { code, stderr } = await desk.run(["list", "-x", "paper"], { env: { PAPER_CANNOT: "locate" } });
		expect([code, stderr]).toEqual([1, "error: ext.paper cannot locate.\n"]);
	});

	it("no such sandbox: status 3", async () => {
		desk.box("other");
		const { code, stdout, stderr } = await desk.run(["show", "box"]);
		expect([code, stdout]).toEqual([3, ""]);
		expect(stderr).toContain('No sandbox here is called "box".');
	});

	it("by its resource's name or URN, where no id is the same", async () => {
		desk.box("box-1234", { urn: "urn:pulumi:dev::shop::x::MyBox" });
		for (const name of ["MyBox", "urn:pulumi:dev::shop::x::MyBox"])
			expect((await desk.json<{ sandbox: object }>(["show", name])).document.sandbox).toMatchObject({
				sandboxId: "box-1234",
			});
	});

	it("an id goes before a resource's name", async () => {
		desk.box("box");
		desk.box("other", { urn: "urn:pulumi:dev::shop::x::box" });
		expect((await desk.json<{ sandbox: object }>(["show", "box"])).document.sandbox).toMatchObject({
			sandboxId: "box",
		});
	});

	it("a name that fits several is refused, and all are named", async () => {
		desk.box("box-1", { urn: "urn:pulumi:dev::shop::x::box" });
		desk.box("box-2", { urn: "urn:pulumi:prod::shop::x::box" });
		const { code, stderr } = await desk.run(["show", "box"]);
		expect(code).toBe(1);
		expect(stderr).toMatch(
			/"box" fits several sandboxes: box-1 \(ext\.paper, .*dev.*\), box-2 \(ext\.paper, .*prod.*\)\./,
		);
	});

	it.each([
		["a handle", (handle: object) => handle],
		["outputs of a stack", (handle: object) => ({ url: "x", box: { handle, lease: {} }, again: handle })],
		["what show --json printed", (handle: object) => ({ sandbox: { handle }, problem: null })],
	])("by %s on standard input", async (_what, wrapped) => {
		const input = JSON.stringify(wrapped(desk.box("box")));
		expect((await desk.json<{ sandbox: object }>(["show", "-"], { input })).document.sandbox).toMatchObject({
			sandboxId: "box",
		});
	});

	it.each([
		["no JSON", "nonsense", "There is no handle of a sandbox in what was given."],
		["no handle", "{}", "There is no handle of a sandbox in what was given."],
		[
			"two handles",
			JSON.stringify(
				["a", "b"].map((id) => ({ extension: "ext.paper", sandbox_id: id, host: "local", generation: 1 })),
			),
			"There are handles of 2 sandboxes in what was given: a, b.",
		],
	])("standard input with %s is refused", async (_what, input, message) => {
		const ended = await desk.run(["show", "-"], { input });
		expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining(message)]);
	});

	it("a handle of an earlier life is gone, status 3", async () => {
		const handle = desk.box("box");
		const { document, code } = await desk.json(["show", "-"], { input: JSON.stringify({ ...handle, generation: 0 }) });
		expect(code).toBe(3);
		expect(document).toMatchObject({ sandbox: { state: "gone" }, problem: { code: "gone" } });
	});

	it("an extension that does not answer: the others' sandboxes, its error, and status 4", async () => {
		desk.box("box");
		const env = { PAPER_FAILS: "locate" };
		const { code, stdout, stderr } = await desk.run(["list"], { env });
		expect([code, stdout]).toEqual([4, "No sandboxes where there was an answer.\n"]);
		expect(stderr).toBe("error: ext.paper: Paper does not answer (locate).\nhint: Dry it.\n");
		const { document } = await desk.json<Listing>(["list"], { env });
		expect(document.failures).toMatchObject([
			{ message: expect.stringContaining("locate"), details: { extension: "ext.paper" } },
		]);
	});

	it("an extension that does not answer may have the sandbox: it is not called missing", async () => {
		const { code, stderr } = await desk.run(["show", "box"], { env: { PAPER_FAILS: "locate" } });
		expect([code, stderr]).toEqual([1, expect.stringContaining("Paper does not answer (locate).")]);
	});

	it("--extension asks one alone, with or without ext.", async () => {
		desk.box("box");
		for (const id of ["paper", "ext.paper"])
			expect((await desk.json<Listing>(["list", "-x", id])).document.sandboxes).toHaveLength(1);
		expect((await desk.json<Listing>(["list", "-x", "bwrap"])).document.sandboxes).toEqual([]);
		const { code, stderr } = await desk.run(["list", "-x", "ext.papre"]);
		expect([code, stderr]).toEqual([1, expect.stringContaining('did you mean "ext.paper"?')]);
	});
});
