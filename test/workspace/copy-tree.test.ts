import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { copyTree } from "../../provider/workspace";
import { isRoot, manifest, NOBODY, refusal, Scratch, untilDone } from "./scratch";

const itAsRoot = isRoot ? it : it.skip;
const options = { signal: untilDone };

let scratch: Scratch;
let source: string;
let target: string;
beforeEach(() => {
	scratch = new Scratch();
	source = scratch.directory("tree");
	target = scratch.directory("base/demo");
	scratch.file("out/secret", "canary-out");
});
afterEach(() => scratch.clean());

/** The tree of case 15, and names of bytes that are no UTF-8. */
function makeOddTree(): void {
	const names = ["a b", "-rf", "c:d", "ünï/日本", "it's", 'q"q', "back\\slash", "star*", "$HOME", " trailing ", "#hash", "[x]", ";semi", "new\nline"];
	for (const name of names) scratch.file(`tree/${name}/f`, name);
	for (const name of ["-n", "~", ".hidden", "empty"]) scratch.file(`tree/${name}`, "");
	symlinkSync("a b/f", join(source, "link to a b"));
	scratch.file("tree/run.sh", "#!/bin/sh\n");
	chmodSync(join(source, "run.sh"), 0o755);
	scratch.file("tree/readonly", "");
	chmodSync(join(source, "readonly"), 0o444);
	const bytes = Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0xff, 0x2d, 0xfe])]);
	mkdirSync(bytes);
	writeFileSync(Buffer.concat([bytes, Buffer.from("/"), Buffer.from([0xc3])]), "bytes");
	symlinkSync(Buffer.from([0xff, 0x2d, 0xfe]), join(source, "link to bytes"));
}

describe("names", () => {
	it("arrive byte for byte, with contents, modes and link targets", async () => {
		makeOddTree();
		const report = await copyTree(source, target, options);
		expect(manifest(target)).toEqual(manifest(source));
		expect(readFileSync(join(target, "new\nline/f"), "utf8")).toBe("new\nline");
		expect(statSync(join(target, "run.sh")).mode & 0o7777).toBe(0o755);
		expect(statSync(join(target, "readonly")).mode & 0o7777).toBe(0o444);
		expect(readlinkSync(join(target, "link to a b"))).toBe("a b/f");
		expect(readlinkSync(join(target, "link to bytes"), { encoding: "buffer" })).toEqual(Buffer.from([0xff, 0x2d, 0xfe]));
		expect(execFileSync("diff", ["-r", source, target], { encoding: "utf8" })).toBe("");
		expect(report.files).toBe(23);
	});

	it.each(["my projects/tree", "c:d/tree", "-rf/tree", "tree/", "x/../tree"])("of the source may be %j", async (name) => {
		scratch.file(`${name.replace("x/../", "").replace(/\/$/, "")}/f`, "f");
		scratch.directory("x");
		await copyTree(`${scratch.root}/${name}`, target, options);
		expect(manifest(target)).toEqual(["f"]);
	});

	it.each(["sand boxes", "it's", "ünï"])("of the base may be %j", async (name) => {
		scratch.file("tree/f", "f");
		await copyTree(source, scratch.directory(name, "demo"), options);
		expect(manifest(scratch.path(name))).toEqual(["demo", "demo/f"]);
	});

	it("of the source may be a path from here, and a link", async () => {
		scratch.file("tree/f", "f");
		symlinkSync("tree", scratch.path("-link"));
		const before = process.cwd();
		process.chdir(scratch.root);
		try {
			await copyTree("-link", "base/demo", options);
		} finally {
			process.chdir(before);
		}
		expect(manifest(target)).toEqual(["f"]);
	});
});

describe("what is kept", () => {
	it("mtime, rwx bits, empty directories; not setuid, setgid and sticky", async () => {
		const file = scratch.file("tree/sub/file", "content");
		chmodSync(file, 0o6751);
		utimesSync(file, 1_000_000_000.25, 1_111_111_111.75);
		chmodSync(scratch.directory("tree/empty/inner"), 0o3777);
		chmodSync(join(source, "sub"), 0o555);
		expect(await copyTree(source, target, options)).toEqual({ files: 1, bytes: 7 });
		expect(statSync(join(target, "sub/file")).mode & 0o7777).toBe(0o751);
		expect(statSync(join(target, "sub/file")).mtimeMs).toBeCloseTo(1_111_111_111_750, 0);
		expect(statSync(join(target, "sub")).mode & 0o7777).toBe(0o555);
		expect(statSync(join(target, "empty/inner")).mode & 0o7777).toBe(0o777);
	});

	it("hard links become files of their own", async () => {
		linkSync(scratch.file("tree/one", "same"), join(source, "two"));
		await copyTree(source, target, options);
		writeFileSync(join(target, "one"), "changed");
		expect(readFileSync(join(target, "two"), "utf8")).toBe("same");
		expect(readFileSync(join(source, "one"), "utf8")).toBe("same");
	});

	it("large files, whole", async () => {
		const content = Buffer.alloc(3_000_001, "0123456789abcdef");
		writeFileSync(join(source, "large"), content);
		expect(await copyTree(source, target, options)).toEqual({ files: 1, bytes: content.length });
		expect(readFileSync(join(target, "large")).equals(content)).toBe(true);
	});

	itAsRoot("the owner that was asked for, on everything", async () => {
		scratch.file("tree/sub/file");
		symlinkSync("sub/file", join(source, "link"));
		await copyTree(source, target, { ...options, owner: NOBODY });
		for (const name of ["", "sub", "sub/file", "link"]) {
			expect({ name, uid: lstatSync(join(target, name)).uid, gid: lstatSync(join(target, name)).gid }).toEqual({ name, ...NOBODY });
		}
		expect(lstatSync(join(source, "sub/file")).uid).toBe(0);
	});

	it("no .git, at any depth", async () => {
		scratch.file("tree/project/.git", "gitdir: /home/author/project/.git/worktrees/x");
		scratch.file("tree/project/file");
		scratch.file("tree/other/.git/config");
		await copyTree(source, target, options);
		expect(manifest(target)).toEqual(["other", "project", "project/file"]);
	});
});

describe("links", () => {
	it("that stay in the tree are carried, also dangling ones and loops", async () => {
		const links = { "sub/up": "../file", loop: ".", a: "b", b: "a", dangling: "sub/absent", "sub/self": "../sub/self", through: "loop/loop/sub/up", dots: "./sub/.././sub//up/" };
		scratch.file("tree/file");
		scratch.directory("tree/sub");
		for (const [name, to] of Object.entries(links)) symlinkSync(to, join(source, name));
		await copyTree(source, target, options);
		for (const [name, to] of Object.entries(links)) expect(readlinkSync(join(target, name))).toBe(to);
	});

	it("of case 21 are refused by name, all at once, before anything is copied", async () => {
		scratch.directory("tree/sub");
		scratch.file("tree/first");
		symlinkSync(scratch.path("out/secret"), join(source, "leak"));
		symlinkSync(scratch.path("out"), join(source, "outdir"));
		symlinkSync("../sub/../../out/secret", join(source, "sub/relative-leak"));
		symlinkSync("/", join(source, "root"));
		symlinkSync(".", join(source, "loop"));
		const error = await refusal(copyTree(source, target, options));
		expect(error.code).toBe("invalid");
		expect(error.details).toMatchObject({ field: "inputs.repo", paths: ["leak", "outdir", "root", "sub/relative-leak"] });
		expect(error.message).toContain(`inputs.repo ${JSON.stringify(source)}`);
		expect(error.message).toContain('"sub/relative-leak" is a symbolic link to "../sub/../../out/secret", which leads out of the tree');
		expect(readdirSync(target)).toEqual([]);
	});

	it.each([
		["a way out and in again", { leak: "../tree/file" }],
		["an absolute target within", { leak: "/proc/self/cwd" }],
		["words that stay, but another link on the way", { "sub/up": "../sub", "sub/here": ".", leak: "sub/here/../.." }],
		["words that leave, although the disk would stay", { deep: "sub/inner", leak: "deep/../.." }],
		["a chain", { one: "sub/two", "sub/two": "../three", three: "..", leak: "one/out" }],
	])("are refused for %s", async (_name, links) => {
		scratch.directory("tree/sub/inner");
		scratch.file("tree/file");
		for (const [name, to] of Object.entries(links)) symlinkSync(to, join(source, name));
		expect((await refusal(copyTree(source, target, options))).details["paths"]).toContain("leak");
		expect(readdirSync(target)).toEqual([]);
	});

	it("cannot be put in a directory's place during the copy", async () => {
		for (let index = 0; index < 400; index += 1) scratch.file(`tree/dir/${index % 8}/${index}`, "inside");
		for (let index = 0; index < 400; index += 1) scratch.file(`out/${index % 8}/${index}`, "canary-out");
		let copies = 0;
		const stop = performance.now() + 2_000;
		while (performance.now() < stop) {
			const to = scratch.directory(`base/${copies}`);
			const copying = copyTree(source, to, options).catch((thrown: unknown) => thrown);
			let goesOn = true;
			const swapping = (async () => {
				for (const wait = () => new Promise((resolve) => setImmediate(resolve)); goesOn; await wait()) {
					renameSync(join(source, "dir"), join(source, "away"));
					symlinkSync("../out", join(source, "dir"));
					await wait();
					rmSync(join(source, "dir"));
					renameSync(join(source, "away"), join(source, "dir"));
				}
			})();
			await copying;
			goesOn = false;
			await swapping;
			copies += 1;
		}
		expect(copies).toBeGreaterThan(1);
		const leaked = execFileSync("sh", ["-c", 'grep -rl canary-out "$1" || true', "sh", scratch.path("base")], { encoding: "utf8" });
		expect(leaked).toBe("");
	}, 30_000);
});

describe("what cannot be carried", () => {
	it("fifos and sockets are refused by name", async () => {
		execFileSync("mkfifo", [join(source, "a fifo")]);
		scratch.file("tree/first");
		const server = createServer().listen(join(source, "socket"));
		await new Promise((resolve) => server.once("listening", resolve));
		try {
			const error = await refusal(copyTree(source, target, options));
			expect(error.message).toContain('"a fifo" is a fifo; "socket" is a socket');
			expect(error.details).toMatchObject({ field: "inputs.repo", paths: ["a fifo", "socket"] });
		} finally {
			await new Promise((resolve) => server.close(resolve));
		}
		expect(readdirSync(target)).toEqual([]);
	});

	itAsRoot("devices are refused by name", async () => {
		execFileSync("mknod", [join(source, "null"), "c", "1", "3"]);
		expect((await refusal(copyTree(source, target, options))).message).toContain('"null" is a device');
	});

	it("ten names are written out, the rest is counted", async () => {
		for (let index = 0; index < 13; index += 1) symlinkSync("/", join(source, `link-${index}`));
		expect((await refusal(copyTree(source, target, options))).message).toContain("and 3 more");
	});

	itAsRoot("what this user may not read is named", async () => {
		scratch.file("tree/sub/private");
		chmodSync(join(source, "sub/private"), 0);
		execFileSync("chown", ["-R", `${NOBODY.uid}`, scratch.path("base"), scratch.root]);
		execFileSync("chown", ["0", join(source, "sub/private")]);
		process.seteuid?.(NOBODY.uid);
		const error = await refusal(copyTree(source, target, options)).finally(() => process.seteuid?.(0));
		expect(error.code).toBe("invalid");
		expect(error.message).toContain('"sub/private" cannot be read: EACCES: permission denied.');
	});

	itAsRoot("a full disk is named", async () => {
		writeFileSync(join(source, "large"), Buffer.alloc(2_000_000));
		scratch.mount(target, "-t", "tmpfs", "-o", "size=1m", "tmpfs");
		const error = await refusal(copyTree(source, target, options));
		expect(error.code).toBe("preflight");
		expect(error.message).toContain('"large" cannot be written');
		expect(error.message).toContain("ENOSPC");
	});

	it("a source that is not there, or a file", async () => {
		for (const name of ["absent", "out/secret"]) {
			const error = await refusal(copyTree(scratch.path(name), target, options));
			expect(error.code).toBe("invalid");
			expect(error.message).toContain(`inputs.repo ${JSON.stringify(scratch.path(name))} cannot be opened`);
		}
	});

	it("a target that is not empty, a link, or absent", async () => {
		scratch.file("base/full/file");
		symlinkSync("demo", scratch.path("base/link"));
		for (const name of ["full", "link", "absent"]) {
			const error = await refusal(copyTree(source, scratch.path("base", name), options));
			expect(error.code).toBe("conflict");
			expect(error.message).toContain(JSON.stringify(scratch.path("base", name)));
		}
	});

	it("a source that holds the target", async () => {
		const inner = scratch.directory("tree/base/demo");
		expect((await refusal(copyTree(source, inner, options))).message).toContain("would be copied into itself");
		expect((await refusal(copyTree(inner, inner, options))).message).toContain("would be copied into itself");
	});
});

describe("a caller who goes away", () => {
	it("before the start: nothing is copied", async () => {
		scratch.file("tree/file");
		expect((await refusal(copyTree(source, target, { signal: AbortSignal.abort() }))).code).toBe("aborted");
		expect(readdirSync(target)).toEqual([]);
	});

	it("during many files, or a large one: the copy ends at once", async () => {
		for (let index = 0; index < 3_000; index += 1) scratch.file(`tree/${index % 30}/${index}`);
		execFileSync("truncate", ["-s", "4G", join(source, "large")]);
		const stop = new AbortController();
		const copying = refusal(copyTree(source, target, { signal: stop.signal }));
		while (!existsSync(join(target, "large"))) await new Promise((resolve) => setTimeout(resolve, 5));
		const stopped = performance.now();
		stop.abort();
		expect((await copying).code).toBe("aborted");
		expect(performance.now() - stopped).toBeLessThan(2_000);
		expect(statSync(join(target, "large")).size).toBeLessThan(4 * 2 ** 30);
	}, 30_000);
});

it("copies 5 000 small files (time is printed)", async () => {
	for (let index = 0; index < 5_000; index += 1) scratch.file(`tree/${index % 100}/${index}`, "x".repeat(index % 4_000));
	const started = performance.now();
	const report = await copyTree(source, target, options);
	process.stdout.write(`copyTree, 5 000 files in 100 directories, no git: ${Math.round(performance.now() - started)} ms\n`);
	expect(report.files).toBe(5_000);
}, 120_000);
