import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "../../provider/workspace";
import { manifest, refusal, Scratch, untilDone } from "./scratch";

const MARKER = ".sandboxer.json";
const marker = async (directory: string): Promise<boolean> => existsSync(join(directory, MARKER));
const options = { signal: untilDone, marker, last: [MARKER] };

let scratch: Scratch;
let demo: string;
beforeEach(() => {
	scratch = new Scratch();
	demo = scratch.directory("sbx/demo");
	scratch.file(`sbx/demo/${MARKER}`);
	scratch.file("sbx/demo/work/a b.txt");
	scratch.file("sbx/other/keep");
	scratch.file("home/ci/precious");
});
afterEach(() => {
	const others = existsSync(scratch.path("sbx/other/keep")) && existsSync(scratch.path("home/ci/precious"));
	scratch.clean();
	expect(others).toBe(true);
});

describe("a removal that is repeated, stopped or disturbed", () => {
	it("has nothing to do where there is no directory, and none above it", async () => {
		expect(await removeTree(scratch.path("sbx/absent"), options)).toEqual({ removed: false, remains: [] });
		expect(await removeTree(scratch.path("absent/absent"), options)).toEqual({ removed: false, remains: [] });
	});

	it("works side by side with another one", async () => {
		for (let index = 0; index < 300; index += 1) scratch.file(`sbx/demo/many/${index % 20}/${index}`);
		const reports = await Promise.all([1, 2, 3].map(() => removeTree(demo, options)));
		expect(reports.flatMap(({ remains }) => remains)).toEqual([]);
		expect(manifest(scratch.path("sbx"))).toEqual(["other", "other/keep"]);
	});

	it("stops when told to, still has its marker, and goes on later", async () => {
		for (let index = 0; index < 2_000; index += 1) scratch.file(`sbx/demo/many/${index % 50}/${index}`);
		const stop = new AbortController();
		const removal = refusal(removeTree(demo, { ...options, signal: stop.signal }));
		setTimeout(() => stop.abort(), 10);
		expect((await removal).code).toBe("aborted");
		expect(existsSync(join(demo, MARKER))).toBe(true);
		expect((await removeTree(demo, options)).removed).toBe(true);
	});

	it("does not start for a caller who is gone", async () => {
		expect((await refusal(removeTree(demo, { ...options, signal: AbortSignal.abort() }))).code).toBe("aborted");
		expect(existsSync(join(demo, "work/a b.txt"))).toBe(true);
	});

	it.each([[[MARKER]], [[]]])("finishes what a kill left behind between its last steps: %j", async (left) => {
		const leaving = scratch.directory("sbx/.demo.removing");
		for (const name of left) writeFileSync(join(leaving, name), "");
		expect((await removeTree(demo, options)).removed).toBe(true);
		expect(manifest(scratch.path("sbx"))).toEqual(["other", "other/keep"]);
	});

	it("finishes it also when the directory itself is gone already", async () => {
		renameSync(demo, scratch.path("sbx/.demo.removing"));
		execFileSync("rm", ["-r", scratch.path("sbx/.demo.removing/work")]);
		expect(await removeTree(demo, options)).toEqual({ removed: true, remains: [] });
		expect(manifest(scratch.path("sbx"))).toEqual(["other", "other/keep"]);
	});

	it("removes several last names in their order, a directory too", async () => {
		scratch.file("sbx/demo/records/one");
		expect((await removeTree(demo, { ...options, last: ["records", MARKER] })).removed).toBe(true);
		expect(existsSync(demo)).toBe(false);
	});

	it("removes nothing when the directory is swapped while the marker is looked at", async () => {
		const swapping = async () => {
			renameSync(demo, scratch.path("sbx/away"));
			mkdirSync(demo);
			writeFileSync(join(demo, "stranger"), "");
			return true;
		};
		expect((await refusal(removeTree(demo, { ...options, marker: swapping }))).code).toBe("conflict");
		expect(existsSync(join(demo, "stranger"))).toBe(true);
		expect(existsSync(scratch.path("sbx/away/work/a b.txt"))).toBe(true);
	});

	it("does not take a marker that cannot be read for a directory that is gone", async () => {
		const failing = async (directory: string) => readFileSync(join(directory, "absent")).length > 0;
		expect((await refusal(removeTree(demo, { ...options, marker: failing }))).code).toBe("unknown");
	});

	it("says so when something keeps writing", async () => {
		let goesOn = true;
		const writing = (async () => {
			for (let index = 0; goesOn; index += 1) {
				try {
					writeFileSync(join(demo, `new-${index}`), "");
				} catch {
					goesOn = false;
				}
				await new Promise((resolve) => setImmediate(resolve));
			}
		})();
		const report = await removeTree(demo, options);
		goesOn = false;
		await writing;
		expect(report.removed || report.remains.length > 0).toBe(true);
		expect(report.removed).toBe(!existsSync(demo));
	});
});
