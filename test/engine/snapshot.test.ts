import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SnapshotMeta } from "../../provider/contract";
import { TestStack } from "./support/test-stack";

const box = (cpuHint = "20m", more = "") => `
const box = new Sandbox("box", {
	profile: { extension: "ext.bwrap", isolation: { level: "process" } },
	ttl: "${cpuHint}",
	${more}
});
exports.box = { id: box.sandboxId, workspace: box.workspaceDir, handle: box.handle };
`;

const kept = (args = "") => `
const kept = box.snapshot("kept", { ${args} });
exports.kept = kept.snapshot;
exports.keptId = kept.snapshotId;
`;

interface Outputs {
	readonly box: { readonly id: string; readonly workspace: string; readonly handle: { readonly generation: number } };
	readonly kept: SnapshotMeta;
	readonly keptId: string;
}

describe("a snapshot of a sandbox", () => {
	let stack: TestStack;
	const outputs = () => stack.outputs<Outputs>();
	const stored = () => {
		const folder = join(stack.sandboxes, "bwrap-snapshots");
		return existsSync(folder) ? readdirSync(folder).sort() : [];
	};
	const resource = async () =>
		(await stack.exported()).resources.find(({ type }) => type.endsWith("sandboxer:Snapshot"));

	beforeAll(async () => {
		stack = await new TestStack(box() + kept('keep: "30d", labels: { why: "test" }')).init();
		const preview = await stack.ok(["preview"]);
		expect(preview.text).toContain("sandboxer:Snapshot");
		expect(existsSync(stack.sandboxes)).toBe(false);
		await stack.up();
	});
	afterAll(() => stack.dispose());

	it("is taken by the first up; the second does nothing, and so does a refresh", async () => {
		const first = await outputs();
		expect(first.kept).toMatchObject({
			snapshot_id: first.keptId,
			sandbox_id: first.box.id,
			consistent: true,
			labels: { why: "test" },
			owner: { stack: "test", project: "engine-test" },
		});
		expect(existsSync(String(first.kept["archive"]))).toBe(true);
		const days = (Date.parse(first.kept.expires_at ?? "") - Date.parse(first.kept.created_at)) / 86_400_000;
		expect(days).toBe(30);
		expect((await resource())?.urn).toContain("sandboxer:index:Sandbox$pulumi-nodejs:dynamic/sandboxer:Snapshot::kept");
		expect((await stack.up()).text).toMatch(/unchanged/);
		await stack.refresh();
		expect((await stack.up()).text).not.toMatch(/Snapshot.*(creat|updat|replac)/);
		expect((await outputs()).kept).toEqual(first.kept);
		expect(stored()).toEqual([first.keptId]);
	});

	it("is not retaken when its sandbox is replaced, and only written down when keep changes", async () => {
		const before = await outputs();
		stack.write("app/file", "from the repository");
		const replaced = await (async () => {
			stack.program(box("20m", 'inputs: { repo: "./app" },') + kept('keep: "30d", labels: { why: "test" }'));
			return stack.up();
		})();
		expect(replaced.text).toMatch(/Bwrap.*replaced/);
		expect(replaced.text).not.toMatch(/Snapshot.*(creat|updat|replac)/);
		const after = await outputs();
		expect(after.box.id).not.toBe(before.box.id);
		expect(after.kept).toEqual(before.kept);
		stack.program(box("20m", 'inputs: { repo: "./app" },') + kept('keep: "31d"'));
		expect((await stack.up()).text).toMatch(/is as it was taken, kept until/);
		expect((await outputs()).kept).toEqual(before.kept);
		expect(stored()).toEqual([before.keptId]);
	});

	it("a trigger takes another one; the earlier archive stays", async () => {
		const before = await outputs();
		stack.program(box("20m", 'inputs: { repo: "./app" },') + kept('triggers: ["v1"]'));
		const { text } = await stack.up();
		expect(text).toMatch(/Snapshot.*replaced/);
		const after = await outputs();
		expect(after.keptId).not.toBe(before.keptId);
		expect(after.kept).toMatchObject({ sandbox_id: after.box.id, file_count: 1 });
		expect(after.kept.expires_at).toBeUndefined();
		expect(stored()).toEqual([before.keptId, after.keptId].sort());
		expect((await stack.up()).text).toMatch(/unchanged/);
	});

	it("after a refresh that finds its archive gone, the next up takes another", async () => {
		const before = await outputs();
		rmSync(join(stack.sandboxes, "bwrap-snapshots", before.keptId), { recursive: true });
		await stack.refresh();
		expect(await resource()).toBeUndefined();
		writeFileSync(join(before.box.workspace, "later"), "x");
		await stack.up();
		const after = await outputs();
		expect(after.kept.file_count).toBe(2);
		expect(after.kept.sha256).not.toBe(before.kept.sha256);
	});

	it("a create whose answer was lost is not taken twice", async () => {
		const before = await outputs();
		const { text } = await stack.exported();
		const state = JSON.parse(text) as { deployment: { resources: { type: string }[] } };
		const all = state.deployment.resources;
		state.deployment.resources = all.filter(({ type }) => !type.endsWith("sandboxer:Snapshot"));
		stack.write("lost.json", JSON.stringify(state));
		await stack.ok(["stack", "import", "--file", "lost.json"]);
		expect(await resource()).toBeUndefined();
		await stack.up();
		expect((await outputs()).kept).toEqual(before.kept);
	});

	it("an id of the program's own is not taken again under new triggers, which a preview says", async () => {
		stack.program(box("20m", 'inputs: { repo: "./app" },') + kept('snapshotId: "mine", triggers: ["v1"]'));
		await stack.up();
		expect((await outputs()).keptId).toBe("mine");
		stack.program(box("20m", 'inputs: { repo: "./app" },') + kept('snapshotId: "mine", triggers: ["v2"]'));
		const { code, text } = await stack.run(["preview"]);
		expect(code).not.toBe(0);
		expect(text).toMatch(/snapshotId is still "mine", which is taken and stays/);
		stack.program(box("20m", 'inputs: { repo: "./app" },') + kept('snapshotId: "../x"'));
		expect((await stack.run(["preview"])).text).toMatch(/snapshotId must be made of a-z/);
	});

	it("destroy keeps the archive, and another stack restores it into a sandbox of its own", async () => {
		stack.program(box("20m", 'inputs: { repo: "./app" },') + kept('triggers: ["v1"]'));
		await stack.up();
		const { kept: meta, keptId } = await outputs();
		const destroyed = await stack.destroy();
		expect(destroyed.text).toContain(`${keptId} stays, kept until somebody removes it`);
		expect(stack.sandboxFolders()).toEqual([]);
		expect(stored()).toContain(keptId);
		const again = (args: string) => `
			const again = new Sandbox("again", {
				profile: { extension: "ext.bwrap", isolation: { level: "process" } }, ttl: "20m", ${args}
			});
			exports.workspace = again.workspaceDir;
			exports.id = again.sandboxId;
		`;
		const from = (changes: object = {}) => `restoreFrom: ${JSON.stringify({ ...meta, ...changes })}`;
		const other = await new TestStack(again(from()), { sharesSandboxesWith: stack, name: "other" }).init();
		try {
			await other.up();
			const { workspace, id } = await other.outputs<{ workspace: string; id: string }>();
			expect(readFileSync(join(workspace, "file"), "utf8")).toBe("from the repository");
			expect(readFileSync(join(workspace, "later"), "utf8")).toBe("x");
			other.program(again(from({ labels: { other: "label" }, archive: "/elsewhere" })));
			expect((await other.up()).text).not.toMatch(/replaced/);
			expect((await other.outputs<{ id: string }>()).id).toBe(id);
			other.program(again(from({ sha256: "0".repeat(64) })));
			const { code, text } = await other.run(["up", "--yes", "--skip-preview"]);
			expect(code).not.toBe(0);
			expect(text).toMatch(/Snapshot \S+ in \S+ is another one/);
			other.program(again(from({ extension: "ext.other" })));
			expect((await other.run(["preview"])).text).toMatch(/restoreFrom was taken by ext.other/);
			other.program(again(`${from()}, inputs: { repo: "." }`));
			expect((await other.run(["up", "--yes", "--skip-preview"])).text).toMatch(
				/inputs.repo is given, but the workspace comes out of snapshot/,
			);
		} finally {
			await other.dispose();
		}
		expect(stored()).toContain(keptId);
	});

	it("after a destroy the next up takes a new one: it is another life of the sandbox", async () => {
		const before = stored();
		await stack.up();
		expect(stored().length).toBe(before.length + 1);
	});
});

it("snapshot and restored sandbox in one program: up, then nothing", async () => {
	const stack = await new TestStack(`
		const box = new Sandbox("box", { profile: { extension: "ext.bwrap", isolation: { level: "process" } }, ttl: "20m" });
		const kept = new sandboxer.Snapshot("kept", { sandbox: box });
		new Sandbox("again", { profile: { extension: "ext.bwrap", isolation: { level: "process" } }, ttl: "20m", restoreFrom: kept.snapshot });
	`).init();
	try {
		await stack.ok(["preview"]);
		await stack.up();
		expect(stack.sandboxFolders()).toHaveLength(2);
		expect((await stack.up()).text).not.toMatch(/(creat|updat|replac)ed/);
	} finally {
		await stack.dispose();
	}
});
