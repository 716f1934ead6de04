import { existsSync, linkSync, lstatSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { removeTree } from "../../provider/workspace";
import { itAsRoot, manifest, refusal, Scratch, untilDone } from "./scratch";

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

describe("case 16, table.yaml, on disk", () => {
	it('{ base_dir: /home, id: ci, refuse: "an existing directory without our marker" }', async () => {
		const error = await refusal(removeTree(scratch.path("home/ci"), options));
		expect(error.code).toBe("conflict");
		expect(error.message).toContain(
			`${JSON.stringify(scratch.path("home/ci"))} is an existing directory without our marker`,
		);
	});
});

describe("case 16, tampered-state.yaml, on disk", () => {
	const text = readFileSync(join(__dirname, "../cases/16-delete-the-wrong-dir/tampered-state.yaml"), "utf8");
	const rows: { on_disk?: string; expect: string }[] = parse(text);
	const onDisk = new Map(rows.filter((row) => row.on_disk !== undefined).map((row) => [row.on_disk, row.expect]));
	const kinds = [
		"symbolic link to /home/ci",
		"no marker file of this sandbox",
		"another disk is mounted at demo/data",
		"normal",
	];

	it("has these rows about the disk", () => {
		expect([...onDisk.keys()]).toEqual(kinds);
	});

	it(`${kinds[0]}: ${onDisk.get(kinds[0])}`, async () => {
		renameSync(demo, scratch.path("sbx/away"));
		scratch.file(`home/ci/${MARKER}`);
		symlinkSync("../home/ci", demo);
		const error = await refusal(removeTree(demo, options));
		expect(error.code).toBe("conflict");
		expect(error.message).toContain(`${JSON.stringify(demo)} is a symbolic link`);
		expect(lstatSync(demo).isSymbolicLink()).toBe(true);
	});

	it(`${kinds[1]}: ${onDisk.get(kinds[1])}`, async () => {
		renameSync(join(demo, MARKER), join(demo, "other.json"));
		const before = manifest(scratch.root);
		expect((await refusal(removeTree(demo, options))).code).toBe("conflict");
		expect(manifest(scratch.root)).toEqual(before);
	});

	itAsRoot(`${kinds[2]}: ${onDisk.get(kinds[2])}`, async () => {
		const data = scratch.directory("sbx/demo/work/data");
		scratch.mount(data, "-t", "tmpfs", "tmpfs");
		writeFileSync(join(data, "row"), "precious");
		const report = await removeTree(demo, options);
		expect(report).toMatchObject({ removed: false, remains: [data] });
		expect(report.reason).toContain("mounted");
		expect(manifest(demo)).toEqual([MARKER, "work", "work/data", "work/data/row"]);
	});

	it(`${kinds[3]}: ${onDisk.get(kinds[3])}`, async () => {
		expect(await removeTree(demo, options)).toEqual({ removed: true, remains: [] });
		expect(manifest(scratch.path("sbx"))).toEqual(["other", "other/keep"]);
	});
});

describe("what else may be mounted or linked", () => {
	itAsRoot("leaves a bind mount alone that lies on the same file system", async () => {
		const data = scratch.directory("sbx/demo/data");
		scratch.mount(data, "--bind", scratch.path("home/ci"));
		expect(await removeTree(demo, options)).toMatchObject({ removed: false, remains: [data] });
		expect(manifest(demo)).toEqual([MARKER, "data", "data/precious"]);
	});

	itAsRoot("leaves a single file that is bind-mounted alone", async () => {
		const file = scratch.file("sbx/demo/resolv.conf");
		scratch.mount(file, "--bind", scratch.path("home/ci/precious"));
		expect(await removeTree(demo, options)).toMatchObject({ removed: false, remains: [file] });
		expect(readFileSync(scratch.path("home/ci/precious"), "utf8")).toBe("home/ci/precious");
	});

	itAsRoot("leaves the whole directory alone when it is a mount itself", async () => {
		scratch.mount(demo, "-t", "tmpfs", "tmpfs");
		writeFileSync(join(demo, MARKER), "");
		writeFileSync(join(demo, "row"), "precious");
		expect(await removeTree(demo, options)).toMatchObject({ removed: false, remains: [demo] });
		expect(manifest(demo)).toEqual([MARKER, "row"]);
	});

	itAsRoot("removes all of it once the other disk is unmounted", async () => {
		const data = scratch.directory("sbx/demo/data");
		scratch.mount(data, "-t", "tmpfs", "tmpfs");
		expect((await removeTree(demo, options)).removed).toBe(false);
		scratch.unmount(data);
		expect(await removeTree(demo, options)).toEqual({ removed: true, remains: [] });
	});

	it("removes links, and not what they lead to", async () => {
		symlinkSync(scratch.path("home/ci"), join(demo, "home"));
		symlinkSync("/", join(demo, "root"));
		symlinkSync("nowhere", join(demo, "dangling"));
		linkSync(scratch.path("home/ci/precious"), join(demo, "hard"));
		expect((await removeTree(demo, options)).removed).toBe(true);
	});

	it("refuses a plain file", async () => {
		expect((await refusal(removeTree(scratch.path("sbx/other/keep"), options))).message).toContain(
			"is not a directory",
		);
	});

	it.each(["", "/", "relative", "/srv/..", "/srv/sbx/", "/srv//sbx", "/srv/s\0x"])(
		"refuses %j as a directory",
		async (directory) => {
			expect((await refusal(removeTree(directory, options))).code).toBe("internal");
		},
	);

	it.each(["", ".", "..", "a/b"])("refuses %j as a last name", async (name) => {
		expect((await refusal(removeTree(demo, { ...options, last: [name] }))).code).toBe("internal");
		expect(existsSync(join(demo, MARKER))).toBe(true);
	});
});
