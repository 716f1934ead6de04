import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyTree } from "../../provider/workspace";
import { commitAll, git, manifest, refusal, Scratch, untilDone } from "./scratch";

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

describe("repositories in a repository", () => {
	const addSubmodule = () => {
		scratch.file("lib/lib.txt", "lib");
		scratch.file("lib/.gitignore", "*.o\n");
		commitAll(scratch.path("lib"));
		git(repo, "init", "-q");
		git(repo, "submodule", "add", "-q", scratch.path("lib"), "vendor/li b");
		commitAll(repo);
	};

	it("lists a submodule that is checked out by its own rules, and one in it", async () => {
		scratch.file("inner/inner.txt");
		commitAll(scratch.path("inner"));
		addSubmodule();
		const submodule = join(repo, "vendor/li b");
		git(submodule, "submodule", "add", "-q", scratch.path("inner"), "deep/inner");
		scratch.file("repo/vendor/li b/new.txt");
		scratch.file("repo/vendor/li b/lib.o");
		await copyTree(repo, target, options);
		const names = manifest(target).filter((name) => name.startsWith("vendor/li b/"));
		expect(names.map((name) => name.slice("vendor/li b/".length))).toEqual([
			".gitignore",
			".gitmodules",
			"deep",
			"deep/inner",
			"deep/inner/inner.txt",
			"lib.txt",
			"new.txt",
		]);
		expect(manifest(target).filter((name) => /(^|\/)\.git$/.test(name))).toEqual([]);
	});

	it("names one that is not checked out, and the way out", async () => {
		addSubmodule();
		git(repo, "clone", "-q", repo, scratch.path("clone"));
		const error = await refusal(copyTree(scratch.path("clone"), target, options));
		expect(error.code).toBe("invalid");
		expect(error.message).toContain('its submodule "vendor/li b" is not checked out');
		expect(error.hint).toContain("git submodule update --init");
		expect(error.details).toMatchObject({ field: "inputs.repo", paths: ["vendor/li b"] });
		expect(readdirSync(target)).toEqual([]);
	});

	it("leaves out a submodule whose directory is deleted, as any deleted file", async () => {
		addSubmodule();
		rmSync(join(repo, "vendor"), { recursive: true });
		await copyTree(repo, target, options);
		expect(manifest(target)).toEqual([".gitmodules"]);
	});

	it("refuses one whose .git is broken, rather than listing the repository around it", async () => {
		addSubmodule();
		const dotGit = join(repo, "vendor/li b/.git");
		rmSync(dotGit);
		mkdirSync(dotGit);
		expect((await refusal(copyTree(repo, target, options))).message).toContain('git cannot list "vendor/li b"');
		rmSync(dotGit, { recursive: true });
		writeFileSync(dotGit, "gitdir: /nowhere/at/all\n");
		expect((await refusal(copyTree(repo, target, options))).message).toContain("not a git repository: /nowhere/at/all");
	});

	it("lists repositories that the outer one does not know, and its own worktrees", async () => {
		scratch.file("repo/file");
		commitAll(repo);
		scratch.file("repo/nested/a");
		commitAll(join(repo, "nested"));
		scratch.file("repo/nested/b");
		git(repo, "worktree", "add", "-q", ".worktrees/x");
		await copyTree(repo, target, options);
		expect(manifest(target)).toEqual([
			".worktrees",
			".worktrees/x",
			".worktrees/x/file",
			"file",
			"nested",
			"nested/a",
			"nested/b",
		]);
	});
});
