import { Desk } from "./support/desk";

interface Extended {
	readonly before: string;
	readonly asked: string;
	readonly expiresAt: string;
	readonly changed: boolean;
	readonly capped: boolean;
}

interface Swept {
	readonly applied: boolean;
	readonly overdue: readonly { sandboxId: string; outcome: string; error: object | null }[];
}

const MINUTE = 60_000;

describe("extend", () => {
	const desk = new Desk();
	beforeEach(() => desk.clear());
	afterAll(() => desk.dispose());

	const expires = (box = "box") => Date.parse(String(desk.read(`${box}.box`).expiresAt));

	it("gives at least so long from now", async () => {
		desk.box("box", { endsInMinutes: 5 });
		const begun = Date.now();
		const { document } = await desk.json<Extended>(["extend", "box", "1h"]);
		expect(document).toMatchObject({ changed: true, capped: false });
		expect(expires() - begun).toBeGreaterThanOrEqual(60 * MINUTE);
		expect(expires()).toBeLessThanOrEqual(Date.now() + 60 * MINUTE);
		expect(document.expiresAt).toBe(new Date(expires()).toISOString());
	});

	it("never shortens: what lasts longer stays", async () => {
		desk.box("box", { endsInMinutes: 120 });
		const before = expires();
		const { code, stdout } = await desk.run(["extend", "box", "1h"]);
		expect([code, stdout]).toEqual([
			0,
			expect.stringMatching(/^box lasts longer already: it ends .*Z \(in 2 h\)\.\n$/),
		]);
		expect(expires()).toBe(before);
		expect(desk.calls()).toEqual([]);
	});

	it("--by adds to the present end", async () => {
		desk.box("box", { endsInMinutes: 60 });
		const before = expires();
		await desk.run(["extend", "box", "--by", "30m"]);
		expect(expires() - before).toBe(30 * MINUTE);
	});

	it("beyond the profile's maximum it is capped, and says so", async () => {
		desk.box("box", { endsInMinutes: 60 });
		const { document } = await desk.json<Extended>(["extend", "box", "5h"]);
		expect(document.capped).toBe(true);
		expect(Date.parse(document.expiresAt)).toBeLessThan(Date.parse(document.asked));
		const { stdout } = await desk.run(["extend", "box", "5h"]);
		expect(stdout).toMatch(/^box ends .*\(in 3 h\)\.\nCapped: .* is beyond the profile's ttl\.max\.\n$/);
	});

	it("one that is not ready yet has no end to move", async () => {
		desk.box("box", { phase: "provisioning", expiresAt: undefined });
		const { code, stderr } = await desk.run(["extend", "box", "1h"]);
		expect([code, stderr]).toEqual([1, expect.stringContaining("is not known: it is not ready yet")]);
	});
});

describe("expire", () => {
	const desk = new Desk();
	beforeEach(() => desk.clear());
	afterAll(() => desk.dispose());

	it("lists what is overdue and touches nothing", async () => {
		desk.box("early");
		desk.box("late", { endsInMinutes: -10 });
		desk.box("stuck", { phase: "provisioning", endsInMinutes: -10 });
		const { code, stdout } = await desk.run(["expire"]);
		expect(code).toBe(0);
		expect(stdout).toMatch(/^late +ext\.paper +.*\(10 min ago\) +overdue +shop\/dev\/late$/m);
		expect(stdout).toMatch(/Nothing was touched; --apply removes them\.\n$/);
		expect((await desk.json<Swept>(["expire"])).document).toMatchObject({
			applied: false,
			overdue: [{ sandboxId: "late", outcome: "overdue" }],
		});
		expect(desk.calls()).toEqual([]);
	});

	it("the clock of the sandbox's place decides, where it is told", async () => {
		desk.box("late-here", { endsInMinutes: -10, isOver: false });
		desk.box("late-there", { endsInMinutes: 10, isOver: true });
		const { document } = await desk.json<Swept>(["expire"]);
		expect(document.overdue.map(({ sandboxId }) => sandboxId)).toEqual(["late-there"]);
	});

	it("nothing overdue says so", async () => {
		desk.box("early");
		expect((await desk.run(["expire", "--apply"])).stdout).toBe("Nothing is overdue.\n");
	});

	it("--apply removes each, goes on after a failure, and the status says so", async () => {
		for (const id of ["late-1", "late-2", "late-3"]) desk.box(id, { endsInMinutes: -10 });
		desk.box("early");
		const { code, document } = await desk.json<Swept>(["expire", "--apply"], { env: { PAPER_FAILS_ON: "late-2" } });
		expect(code).toBe(4);
		expect(document.overdue.map(({ sandboxId, outcome }) => [sandboxId, outcome])).toEqual([
			["late-1", "removed"],
			["late-2", "failed"],
			["late-3", "removed"],
		]);
		expect(["late-1", "late-2", "late-3", "early"].filter((id) => desk.has(`${id}.box`))).toEqual(["late-2", "early"]);
		expect((await desk.run(["expire", "--apply"])).code).toBe(0);
	});

	it("one that the extension finds renewed stays", async () => {
		// Renewed between the look and the removal: locate says overdue, expire knows better.
		desk.box("late", { endsInMinutes: -10 });
		const { document, code } = await desk.json<Swept>(["expire", "--apply"], { env: { PAPER_RENEWS: "late" } });
		expect([code, document.overdue.map(({ outcome }) => outcome)]).toEqual([0, ["renewed"]]);
		expect(desk.has("late.box")).toBe(true);
	});
});
