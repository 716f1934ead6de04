import { Desk } from "./support/desk";

interface Reaped {
	readonly applied: boolean;
	readonly findings: readonly { what: string; outcome: string }[];
}

describe("inventory and reap", () => {
	const desk = new Desk();
	beforeEach(() => {
		desk.clear();
		for (const action of ["reap", "inspect", "ignore"])
			desk.write(`${action}-me.finding`, { kind: "orphan_dir", what: `${action}-me`, action, reason: "no record" });
	});
	afterAll(() => desk.dispose());

	const left = () => ["reap", "inspect", "ignore"].filter((action) => desk.has(`${action}-me.finding`));
	const outcomes = ({ findings }: Reaped) => findings.map(({ what, outcome }) => [what, outcome]);

	it("inventory lists what was found, and what to do with it", async () => {
		const { code, stdout } = await desk.run(["inventory"]);
		expect(code).toBe(0);
		expect(stdout).toMatch(/^ext\.paper +orphan_dir +reap-me +reap +no record$/m);
		const { document } = await desk.json<{ findings: object[] }>(["inventory"]);
		expect(document.findings).toContainEqual({
			extension: "ext.paper",
			kind: "orphan_dir",
			what: "inspect-me",
			action: "inspect",
			reason: "no record",
		});
		desk.clear();
		expect((await desk.run(["inventory"])).stdout).toBe("Nothing was left behind.\n");
	});

	it("reap is a dry run, of what is to be reaped alone", async () => {
		const { code, document } = await desk.json<Reaped>(["reap"]);
		expect([code, document.applied, outcomes(document)]).toEqual([0, false, [["reap-me", "left"]]]);
		expect((await desk.run(["reap"])).stdout).toMatch(/Nothing was touched; --apply removes it\.\n$/);
		expect(left()).toEqual(["reap", "inspect", "ignore"]);
	});

	it("reap --apply removes it", async () => {
		expect(outcomes((await desk.json<Reaped>(["reap", "--apply"])).document)).toEqual([["reap-me", "removed"]]);
		expect(left()).toEqual(["inspect", "ignore"]);
		expect((await desk.run(["reap"])).stdout).toBe("Nothing to reap.\n");
	});

	it("--all takes what is to be inspected too, never what will be gone by itself", async () => {
		await desk.run(["reap", "--all", "--apply"]);
		expect(left()).toEqual(["ignore"]);
	});

	it("goes on after a failure, and the status says so", async () => {
		const { code, document } = await desk.json<Reaped>(["reap", "--all", "--apply"], {
			env: { PAPER_FAILS_ON: "inspect-me" },
		});
		expect(code).toBe(4);
		expect(outcomes(document)).toEqual([
			["inspect-me", "failed"],
			["reap-me", "removed"],
		]);
	});

	it("where no extension can look, that is said", async () => {
		const { code, stderr } = await desk.start(["inventory", "-c", `extensionPath=${desk.folder}`, "-x", "nobody"])
			.ended;
		expect([code, stderr]).toEqual([1, expect.stringContaining('Extension "ext.nobody" is not declared')]);
	});
});
