import { Desk } from "./support/desk";

interface Listing {
	readonly snapshots: readonly { snapshot_id: string }[];
}

describe("snapshot, snapshots, restore, remove", () => {
	const desk = new Desk();
	beforeEach(() => {
		desk.clear();
		desk.box("box");
	});
	afterAll(() => desk.dispose());

	const take = async (...args: string[]) =>
		(await desk.json<{ snapshot: Record<string, unknown> }>(["snapshot", "box", ...args])).document.snapshot;
	const ids = async (...args: string[]) =>
		(await desk.json<Listing>(["snapshots", ...args])).document.snapshots.map(({ snapshot_id }) => snapshot_id);

	it("snapshot: named by sandbox and time, or as asked for; with labels and retention", async () => {
		expect(await take()).toMatchObject({ snapshot_id: expect.stringMatching(/^box-\d{8}t\d{6}$/), sandbox_id: "box" });
		const named = await take("--id", "mine", "--keep", "7d", "--label", "why=upgrade", "--label", "x=a=b");
		expect(named).toMatchObject({ snapshot_id: "mine", labels: { why: "upgrade", x: "a=b" } });
		expect(Date.parse(String(named.expires_at)) - Date.parse(String(named.created_at))).toBe(7 * 86_400_000);
	});

	it("the id made for the longest sandbox id is an id too", async () => {
		desk.box("b".repeat(63));
		const { document } = await desk.json<{ snapshot: { snapshot_id: string } }>(["snapshot", "b".repeat(63)]);
		expect(document.snapshot.snapshot_id).toMatch(/^b+-\d{8}t\d{6}$/);
		expect(document.snapshot.snapshot_id).toHaveLength(63);
	});

	it("an id that is none is refused before anything", async () => {
		const { code, stderr } = await desk.run(["snapshot", "box", "--id", "Not an id"]);
		expect([code, stderr]).toEqual([2, expect.stringContaining('--id "Not an id" must be made of a-z')]);
		expect(desk.calls()).toEqual([]);
	});

	it("snapshots: all, or those of a sandbox, which may be gone", async () => {
		expect((await desk.run(["snapshots"])).stdout).toBe("No snapshots.\n");
		await take("--id", "one");
		desk.box("other");
		await desk.run(["snapshot", "other", "--id", "two"]);
		expect(await ids()).toEqual(["one", "two"]);
		expect(await ids("other")).toEqual(["two"]);
		expect((await desk.run(["snapshots"])).stdout).toMatch(
			/^one +box +.*Z \(.*ago\) +removed by hand +1\.5 KiB +3 +yes$/m,
		);
	});

	it("--prune removes what is kept no longer, and nothing else", async () => {
		await take("--id", "kept");
		await take("--id", "kept-for-a-day", "--keep", "1d");
		desk.write("old.snapshot", {
			...desk.read("kept.snapshot"),
			snapshot_id: "old",
			expires_at: "2020-01-01T00:00:00Z",
		});
		const { document, code } = await desk.json<{ removed: object[] }>(["snapshots", "--prune"]);
		expect([code, document.removed]).toEqual([0, [expect.objectContaining({ outcome: "removed" })]]);
		expect(await ids()).toEqual(["kept-for-a-day", "kept"]);
		expect((await desk.run(["snapshots", "--prune"])).stdout).toBe("No snapshot's time is over.\n");
	});

	it("--remove removes the ones that are named; one that is not there is status 3 and nothing is removed", async () => {
		for (const id of ["one", "two", "three"]) await take("--id", id);
		const { code, stderr } = await desk.run(["snapshots", "--remove", "one", "--remove", "four"]);
		expect([code, stderr]).toEqual([3, expect.stringContaining('There is no snapshot "four".')]);
		expect(await ids()).toHaveLength(3);
		expect((await desk.run(["snapshots", "--remove", "one", "--remove", "two"])).code).toBe(0);
		expect(await ids()).toEqual(["three"]);
		expect((await desk.run(["snapshots", "--remove", "three", "--prune"])).code).toBe(2);
	});

	it("restore makes a new sandbox of the command line, with a lease; remove takes it away", async () => {
		await take("--id", "mine");
		const { document, code } = await desk.json([
			"restore",
			"mine",
			"-p",
			"paper",
			"--name",
			"again",
			"--ttl",
			"2h",
			"--label",
			"a=b",
		]);
		expect(code).toBe(0);
		expect(document).toMatchObject({
			sandboxId: "again",
			extension: "ext.paper",
			handle: { sandbox_id: "again" },
			owner: { scope: "cli", stack: "-", urn: "cli:again" },
			labels: { a: "b" },
		});
		expect(JSON.stringify(document)).not.toContain("canary");
		const made = desk.read("again.box");
		expect(made).toMatchObject({
			words: "words of box",
			owner: { project: expect.stringMatching(/^sandboxer-desk-/) },
		});
		expect(Date.parse(String(made.expiresAt)) - Date.parse(String(made.readyAt))).toBe(2 * 3_600_000);
		expect((await desk.run(["list"])).stdout).toMatch(/^again .* command line \(sandboxer-desk-.*\)$/m);
		const removed = await desk.run(["remove", "again"]);
		expect([removed.code, removed.stdout]).toEqual([0, "again was removed: again.box.\n"]);
		expect([desk.has("again.box"), desk.has("box.box"), desk.has("mine.snapshot")]).toEqual([false, true, true]);
	});

	it("restore without a name: another one each time", async () => {
		await take("--id", "mine");
		const made = await Promise.all(
			[1, 2].map(() => desk.json<{ sandboxId: string }>(["restore", "mine", "--profile", "paper"])),
		);
		const [one, two] = made.map(({ document }) => document.sandboxId);
		expect([one, two]).toEqual([
			expect.stringMatching(/^box-[0-9a-f]{8}$/),
			expect.stringMatching(/^box-[0-9a-f]{8}$/),
		]);
		expect(one).not.toBe(two);
	});

	it("restore never takes a sandbox that is there: it stays as it was", async () => {
		await take("--id", "mine");
		const { code, stderr } = await desk.run(["restore", "mine", "-p", "paper", "--name", "box"]);
		expect([code, stderr]).toEqual([
			1,
			expect.stringContaining("Sandbox box was restored before: it was not touched."),
		]);
		expect(desk.has("box.box")).toBe(true);
	});

	it("restore that is not ready in the end says how to remove it", async () => {
		await take("--id", "mine");
		const { code, stderr } = await desk.run(["restore", "mine", "-p", "paper", "--name", "again"], {
			env: { PAPER_FAILS: "waitReady" },
		});
		expect([code, stderr]).toEqual([
			1,
			expect.stringMatching(
				/does not answer \(waitReady\).*\nhint: Dry it\. It is there, but not ready: sandboxer remove again removes it\.\n$/,
			),
		]);
		expect((await desk.run(["remove", "again"])).code).toBe(0);
	});

	it.each([
		[["--profile", "bwrap-local"], "is kept by ext.paper; the profile is of ext.bwrap"],
		[["--profile", "papre"], 'did you mean "profile.paper"?'],
		[["--profile", "paper", "--input", "colour=red"], "inputs.colour is not a known key"],
		[["--profile", "paper", "--ttl", "soon"], 'ttl is "soon", which is not a duration'],
	])("restore with %j is refused; nothing is made", async (args, message) => {
		await take("--id", "mine");
		const { code, stderr } = await desk.run(["restore", "mine", ...args]);
		expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
		expect(desk.calls().map(({ method }) => method)).toEqual(["snapshot"]);
	});

	it("remove leaves a stack's sandbox alone, unless it is forced", async () => {
		const { code, stderr } = await desk.run(["remove", "box"]);
		expect([code, stderr]).toEqual([
			1,
			expect.stringContaining("belongs to shop/dev/box, not to the command line. It was not touched."),
		]);
		expect(desk.has("box.box")).toBe(true);
		expect((await desk.run(["remove", "box", "--force"])).code).toBe(0);
		expect(desk.has("box.box")).toBe(false);
	});
});
