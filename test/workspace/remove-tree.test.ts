import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { removeTree } from "../../provider/workspace";
import { isRoot, manifest, NOBODY, refusal, Scratch, untilDone } from "./scratch";

const MARKER = ".sandboxer.json";
const marker = async (directory: string): Promise<boolean> => existsSync(join(directory, MARKER));
const options = { signal: untilDone, marker, last: [MARKER] };
const itAsRoot = isRoot ? it : it.skip;

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
		expect(error.message).toContain(`${JSON.stringify(scratch.path("home/ci"))} is an existing directory without our marker`);
	});
});

describe("case 16, tampered-state.yaml, on disk", () => {
	const text = readFileSync(join(__dirname, "../cases/16-delete-the-wrong-dir/tampered-state.yaml"), "utf8");
	const rows: { on_disk?: string; expect: string }[] = parse(text);
	const onDisk = new Map(rows.filter((row) => row.on_disk !== undefined).map((row) => [row.on_disk, row.expect]));
	const kinds = ["symbolic link to /home/ci", "no marker file of this sandbox", "another disk is mounted at demo/data", "normal"];

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

	itAsRoot(`${kinds[2]}: ${onDisk.get(kinds[2])}${isRoot ? "" : " (needs root, not run)"}`, async () => {
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
		expect((await refusal(removeTree(scratch.path("sbx/other/keep"), options))).message).toContain("is not a directory");
	});

	it.each(["", "/", "relative", "/srv/..", "/srv/sbx/", "/srv//sbx", "/srv/s\0x"])("refuses %j as a directory", async (directory) => {
		expect((await refusal(removeTree(directory, options))).code).toBe("internal");
	});

	it.each(["", ".", "..", "a/b"])("refuses %j as a last name", async (name) => {
		expect((await refusal(removeTree(demo, { ...options, last: [name] }))).code).toBe("internal");
		expect(existsSync(join(demo, MARKER))).toBe(true);
	});
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

describe("what a payload leaves", () => {
	const asNobody = async <T>(call: () => Promise<T>): Promise<T> => {
		process.setegid?.(NOBODY.gid);
		process.seteuid?.(NOBODY.uid);
		try {
			return await call();
		} finally {
			process.seteuid?.(0);
			process.setegid?.(0);
		}
	};

	const shut = () => {
		scratch.file("sbx/demo/shut/inner/file");
		chmodSync(join(demo, "shut/inner"), 0);
		chmodSync(join(demo, "shut"), 0o100);
	};

	itAsRoot("removes directories of mode 000 without being root", async () => {
		shut();
		execFileSync("chown", ["-R", `${NOBODY.uid}:${NOBODY.gid}`, scratch.root]);
		expect(await asNobody(() => removeTree(demo, options))).toEqual({ removed: true, remains: [] });
	});

	itAsRoot("names what another user owns, and removes the rest", async () => {
		scratch.file("sbx/demo/theirs/file");
		execFileSync("chown", ["-R", `${NOBODY.uid}:${NOBODY.gid}`, scratch.root]);
		chownSync(join(demo, "theirs"), 0, 0);
		const report = await asNobody(() => removeTree(demo, options));
		expect(report).toMatchObject({ removed: false, remains: [join(demo, "theirs/file")] });
		expect(report.reason).toContain("EACCES");
		expect(manifest(demo)).toEqual([MARKER, "theirs", "theirs/file"]);
	});

	itAsRoot("says unknown when the parent cannot be entered", async () => {
		chmodSync(scratch.root, 0o755);
		chmodSync(scratch.path("sbx"), 0o700);
		const error = await asNobody(() => refusal(removeTree(demo, options)));
		expect(error.code).toBe("unknown");
		expect(error.message).toContain(JSON.stringify(demo));
	});

	it("removes names of any bytes, fifos and sockets", async () => {
		for (const name of ["-rf", "new\nline", "ünï", " ", "*"]) scratch.file(`sbx/demo/odd/${name}`);
		writeFileSync(Buffer.concat([Buffer.from(`${demo}/odd/`), Buffer.from([0xff, 0xfe])]), "");
		execFileSync("mkfifo", [join(demo, "odd/fifo")]);
		expect((await removeTree(demo, options)).removed).toBe(true);
	});

	it("removes a chain of directories that is deeper than any path may be", async () => {
		execFileSync("python3", ["-c", 'import os,sys\nos.chdir(sys.argv[1])\nfor i in range(3000):\n os.mkdir("deep")\n os.chdir("deep")\nopen("file","w")', demo]);
		expect(await removeTree(demo, options)).toEqual({ removed: true, remains: [] });
		expect(existsSync(demo)).toBe(false);
	});

	it("removes 20 000 files, half of them in one directory (time and memory are printed)", async () => {
		for (let index = 0; index < 20_000; index += 1) scratch.file(`sbx/demo/${index % 2 === 0 ? "flat" : index % 200}/${index}`, "");
		const started = performance.now();
		const before = process.memoryUsage().rss;
		expect((await removeTree(demo, options)).removed).toBe(true);
		const mebibytes = (process.memoryUsage().rss - before) / 2 ** 20;
		process.stdout.write(`removeTree, 20 000 files: ${Math.round(performance.now() - started)} ms, ${mebibytes.toFixed(0)} MiB more\n`);
	}, 120_000);
});
