import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConformanceAdapter, conformance } from "../../provider/conformance";
import { planFor } from "../../provider/conformance/plan";
import { reportOf } from "../../provider/conformance/report";
import { Staged } from "../extensions/bwrap/support/staged";

const staged = new Staged();
const notes = mkdtempSync(join(tmpdir(), "notes-"));
const handler = staged.file("note-paper.js");
copyFileSync(join(__dirname, "../fixtures/extensions/note-paper/handler.js"), handler);
// What the handler imports by the package's name.
const exported = { "./extension": "./provider/contract/index.js" };
writeFileSync(staged.file("package.json"), JSON.stringify({ name: "pulumi-sandboxer", exports: exported }));
afterAll(() => {
	staged.remove();
	rmSync(notes, { recursive: true });
});

const adapter: ConformanceAdapter = {
	name: "ext.note-paper",
	declaration: {
		id: "ext.note-paper",
		title: "Note paper",
		handler: "./handler:NotePaper",
		capabilities: { isolation_levels: ["container"], pricing_model: "self-hosted" },
	},
	handler,
	profile: { id: "profile.kit", version: "1", extension: "ext.note-paper", isolation: { level: "container" } },
	environment: { NOTES: notes },
	launch: () => [staged.node, staged.file("provider/conformance/worker.js")],
	traces: ({ sandbox_id }) => readdirSync(notes).filter((name) => name.split(".")[0] === sandbox_id),
};

// All that it says it does it does; that it does no more is a test too.
conformance(adapter);

describe("an extension that makes sandboxes and does nothing else", () => {
	const plan = planFor(adapter);

	it("is shown as such: no part is supported that it does not say it has", () => {
		expect(plan.map(({ name, supported }) => [name, supported])).toEqual([
			["lifecycle", true],
			["handles", true],
			["execution", false],
			["snapshots", false],
			["leases", false],
		]);
		expect(plan.find(({ name }) => name === "execution")?.cases.map(({ name }) => name)).toEqual([
			"refuses to run a command, naming itself and what it cannot do",
		]);
	});

	it("has what it gives no means for named, not passed", () => {
		const notShown = plan.flatMap((part) => part.notShown);
		expect(notShown).toContainEqual({
			name: "hands a sandbox over once where it is asked twice, as after a lost answer",
			missing: ["claim"],
		});
		expect(notShown.every(({ missing }) => missing.length > 0)).toBe(true);
	});

	it("is reported with what passed, failed and was not run", () => {
		const [lifecycle, , execution] = plan;
		const all = lifecycle?.cases.length ?? 0;
		const lines = (passed: number, failed: number) =>
			reportOf(adapter, plan, new Map([["lifecycle" as const, { passed, failed }]])).split("\n");
		expect(lines(all, 0)[0]).toMatch(
			new RegExp(`^ext.note-paper: lifecycle: supported \\(${all} cases; not shown: \\d+\\)$`),
		);
		expect(lines(all - 1, 1)[0]).toBe(`ext.note-paper: lifecycle: NOT SHOWN, 1 of ${all} cases failed`);
		expect(lines(all - 1, 0)[0]).toMatch(/: not shown, \d+ of \d+ cases were run/);
		expect(lines(all, 0)[2]).toBe("ext.note-paper: execution: not supported");
		const refused = new Map([["execution" as const, { passed: execution?.cases.length ?? 0, failed: 0 }]]);
		expect(reportOf(adapter, plan, refused)).toContain("execution: not supported, and refused\n");
	});
});
