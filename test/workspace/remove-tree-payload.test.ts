import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "../../provider/workspace";
import { itAsRoot, manifest, NOBODY, refusal, Scratch, untilDone } from "./scratch";

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

	it("removes a chain of directories that is deeper than any path may be, with few descriptors", async () => {
		const script =
			'import os,sys\nos.chdir(sys.argv[1])\nfor i in range(3000):\n os.mkdir("deep")\n os.chdir("deep")\nopen("file","w")';
		execFileSync("python3", ["-c", script, demo]);
		const limit = execFileSync("prlimit", ["--pid", `${process.pid}`, "--nofile", "-o", "SOFT", "--noheadings"]);
		execFileSync("prlimit", ["--pid", `${process.pid}`, "--nofile=400:"]);
		try {
			expect(await removeTree(demo, options)).toEqual({ removed: true, remains: [] });
		} finally {
			execFileSync("prlimit", ["--pid", `${process.pid}`, `--nofile=${limit.toString().trim()}:`]);
		}
		expect(existsSync(demo)).toBe(false);
	});

	it("removes 20 000 files, half of them in one directory (time and memory are printed)", async () => {
		for (let index = 0; index < 20_000; index += 1)
			scratch.file(`sbx/demo/${index % 2 === 0 ? "flat" : index % 200}/${index}`, "");
		const started = performance.now();
		const before = process.memoryUsage().rss;
		expect((await removeTree(demo, options)).removed).toBe(true);
		const mebibytes = (process.memoryUsage().rss - before) / 2 ** 20;
		process.stdout.write(
			`removeTree, 20 000 files: ${Math.round(performance.now() - started)} ms, ${mebibytes.toFixed(0)} MiB more\n`,
		);
	}, 120_000);
});
