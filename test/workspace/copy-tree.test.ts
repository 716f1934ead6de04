import { execFileSync } from "node:child_process";
import {
	chmodSync,
	existsSync,
	linkSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { copyTree } from "../../provider/workspace";
import { itAsRoot, manifest, NOBODY, refusal, Scratch, untilDone } from "./scratch";

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
	const names = [
		"a b",
		"-rf",
		"c:d",
		"ünï/日本",
		"it's",
		'q"q',
		"back\\slash",
		"star*",
		"$HOME",
		" trailing ",
		"#hash",
		"[x]",
		";semi",
		"new\nline",
	];
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
		expect(readlinkSync(join(target, "link to bytes"), { encoding: "buffer" })).toEqual(
			Buffer.from([0xff, 0x2d, 0xfe]),
		);
		expect(execFileSync("diff", ["-r", source, target], { encoding: "utf8" })).toBe("");
		expect(report.files).toBe(23);
	});

	it.each(["my projects/tree", "c:d/tree", "-rf/tree", "tree/", "x/../tree"])(
		"of the source may be %j",
		async (name) => {
			scratch.file(`${name.replace("x/../", "").replace(/\/$/, "")}/f`, "f");
			scratch.directory("x");
			await copyTree(`${scratch.root}/${name}`, target, options);
			expect(manifest(target)).toEqual(["f"]);
		},
	);

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
			expect({ name, uid: lstatSync(join(target, name)).uid, gid: lstatSync(join(target, name)).gid }).toEqual({
				name,
				...NOBODY,
			});
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
		const stopped = statSync(join(target, "large")).size;
		stop.abort();
		expect((await copying).code).toBe("aborted");
		// What was being copied when it heard of it, and no more.
		expect(statSync(join(target, "large")).size - stopped).toBeLessThan(16 * 2 ** 20);
	}, 30_000);
});

it("copies 5 000 small files (time is printed)", async () => {
	for (let index = 0; index < 5_000; index += 1)
		scratch.file(`tree/${index % 100}/${index}`, "x".repeat(index % 4_000));
	const started = performance.now();
	const report = await copyTree(source, target, options);
	process.stdout.write(
		`copyTree, 5 000 files in 100 directories, no git: ${Math.round(performance.now() - started)} ms\n`,
	);
	expect(report.files).toBe(5_000);
}, 120_000);
