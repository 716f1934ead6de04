import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyTree } from "../../provider/workspace";
import { commitAll, git, manifest, refusal, Scratch, untilDone, withEnvironment } from "./scratch";

const options = { signal: untilDone };

let scratch: Scratch;
let repo: string;
let target: string;
beforeEach(() => {
	scratch = new Scratch();
	repo = scratch.directory("repo");
	target = scratch.directory("base/demo");
});
afterEach(() => scratch.clean());

describe("what git lists", () => {
	it("tracked and untracked, ignored left out, re-included taken, deleted left out", async () => {
		scratch.file("repo/.gitignore", "data/\n!frontend/mocks/data/\n*.env\n");
		scratch.file("repo/data/big.bin");
		scratch.file("repo/frontend/mocks/data/users.json");
		scratch.file("repo/db/init.sql");
		scratch.file("repo/gone/file");
		scratch.file("repo/tracked.env");
		git(repo, "init", "-q");
		git(repo, "add", "-f", "tracked.env");
		commitAll(repo);
		rmSync(join(repo, "gone"), { recursive: true });
		scratch.file("repo/web.env");
		scratch.file("repo/new/untracked");
		scratch.directory("repo/empty");
		expect((await copyTree(repo, target, options)).files).toBe(5);
		expect(manifest(target)).toEqual(
			[
				".gitignore",
				"db",
				"db/init.sql",
				"frontend",
				"frontend/mocks",
				"frontend/mocks/data",
				"frontend/mocks/data/users.json",
				"new",
				"new/untracked",
				"tracked.env",
			].sort(),
		);
	});

	it("a subfolder alone, by the rules of the whole repository", async () => {
		scratch.file("repo/.gitignore", "*.log\n");
		scratch.file("repo/app/sub/file");
		scratch.file("repo/app/x.log");
		scratch.file("repo/outside");
		commitAll(repo);
		await copyTree(join(repo, "app"), target, options);
		expect(manifest(target)).toEqual(["sub", "sub/file"]);
		expect(readFileSync(join(target, "sub/file"), "utf8")).toBe("repo/app/sub/file");
	});

	it("refuses a link from a subfolder to the rest of the repository", async () => {
		scratch.file("repo/shared/base.txt");
		scratch.directory("repo/app");
		symlinkSync("../shared", join(repo, "app/shared"));
		commitAll(repo);
		expect((await refusal(copyTree(join(repo, "app"), target, options))).message).toContain(
			'"shared" is a symbolic link to "../shared"',
		);
	});

	it("does not mind an ignored link that leads out", async () => {
		scratch.file("repo/.gitignore", "node_modules\n");
		symlinkSync("/", join(repo, "node_modules"));
		commitAll(repo);
		await copyTree(repo, target, options);
		expect(manifest(target)).toEqual([".gitignore"]);
	});

	it("odd names: newline, tab, leading dash, bytes that are no UTF-8", async () => {
		for (const name of ["new\nline", "tab\tname", "-rf", "ünï", '"quoted"', " "]) scratch.file(`repo/${name}/f`);
		writeFileSync(Buffer.concat([Buffer.from(`${repo}/`), Buffer.from([0xff, 0x0a, 0xfe])]), "tracked");
		commitAll(repo);
		writeFileSync(Buffer.concat([Buffer.from(`${repo}/`), Buffer.from([0xfe])]), "untracked");
		scratch.file("repo/100644 0000000000000000000000000000000000000000 0\tlike-an-index-line");
		await copyTree(repo, target, options);
		expect(manifest(target)).toEqual(manifest(repo).filter((name) => !name.startsWith(".git")));
	});

	it("files that became directories, directories that became files or links, and conflicts", async () => {
		scratch.file("repo/to-file/inner");
		scratch.file("repo/to-link/inner");
		scratch.file("repo/to-directory");
		scratch.file("repo/elsewhere/inner");
		commitAll(repo);
		for (const name of ["to-file", "to-link", "to-directory"]) rmSync(join(repo, name), { recursive: true });
		scratch.file("repo/to-file");
		symlinkSync("elsewhere", join(repo, "to-link"));
		scratch.file("repo/to-directory/inner");
		await copyTree(repo, target, options);
		expect(manifest(target)).toEqual([
			"elsewhere",
			"elsewhere/inner",
			"to-directory",
			"to-directory/inner",
			"to-file",
			"to-link",
		]);
	});

	it("each file of a merge conflict once", async () => {
		scratch.file("repo/file", "base");
		commitAll(repo);
		git(repo, "checkout", "-qb", "other");
		scratch.file("repo/file", "other");
		git(repo, "commit", "-qam", "other");
		git(repo, "checkout", "-q", "-");
		scratch.file("repo/file", "ours");
		git(repo, "commit", "-qam", "ours");
		expect(() => git(repo, "merge", "-q", "other")).toThrow();
		expect((await copyTree(repo, target, options)).files).toBe(1);
	});

	it("a worktree, without its .git file", async () => {
		scratch.file("repo/file");
		commitAll(repo);
		git(repo, "worktree", "add", "-q", scratch.path("wt"));
		await copyTree(scratch.path("wt"), target, options);
		expect(manifest(target)).toEqual(["file"]);
	});

	it("a repository without any commit, and an empty one", async () => {
		git(repo, "init", "-q");
		expect(await copyTree(repo, target, options)).toEqual({ files: 0, bytes: 0 });
		scratch.file("repo/file");
		expect((await copyTree(repo, target, options)).files).toBe(1);
	});

	it("refuses a directory that the repository around it ignores", async () => {
		scratch.file("repo/.gitignore", "*\n");
		scratch.file("repo/app/file");
		git(repo, "init", "-q");
		const error = await refusal(copyTree(join(repo, "app"), target, options));
		expect(error.message).toContain("git lists nothing in it");
	});

	it("ignores what the repository ignores, not what this person's settings ignore", async () => {
		const home = scratch.directory("home");
		scratch.file("home/.config/git/ignore", "*.mine\n");
		scratch.file("repo/file.mine");
		commitAll(repo);
		scratch.file("repo/other.mine");
		await withEnvironment({ HOME: home, GIT_DIR: "/nowhere", GIT_WORK_TREE: "/", GIT_INDEX_FILE: "/nowhere" }, () =>
			copyTree(repo, target, options),
		);
		expect(manifest(target)).toEqual(["file.mine", "other.mine"]);
	});
});

it("copies 5 000 small files of a repository (time is printed)", async () => {
	for (let index = 0; index < 5_000; index += 1)
		scratch.file(`repo/${index % 100}/${index}`, "x".repeat(index % 4_000));
	commitAll(repo);
	const started = performance.now();
	const report = await copyTree(repo, target, options);
	process.stdout.write(
		`copyTree, 5 000 files in 100 directories, git: ${Math.round(performance.now() - started)} ms\n`,
	);
	expect(report.files).toBe(5_000);
}, 120_000);
