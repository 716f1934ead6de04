import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyTree } from "../../provider/workspace";
import { canary, commitAll, git, manifest, refusal, Scratch, untilDone, withEnvironment } from "./scratch";

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

describe("a hostile repository", () => {
	/** Whatever becomes of it: it is the trace that counts. */
	const tryGit = (...words: string[]) => {
		try {
			git(repo, ...words);
		} catch {
			// The program says nothing that git understands.
		}
	};

	it("runs no file system monitor, hook, alias or pager of its own", async () => {
		const { program, trace } = canary(scratch);
		scratch.file("repo/file");
		commitAll(repo);
		for (const hook of ["post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit"]) {
			writeFileSync(join(repo, ".git/hooks", hook), `#!/bin/sh\nexec '${program}'\n`, { mode: 0o755 });
		}
		for (const key of [
			"core.fsmonitor",
			"core.pager",
			"core.editor",
			"core.sshCommand",
			"core.askPass",
			"diff.external",
			"filter.x.clean",
			"filter.x.process",
			"credential.helper",
			"core.gitProxy",
		]) {
			git(repo, "config", key, program);
		}
		git(repo, "config", "alias.ls-files", `!${program}`);
		scratch.file("repo/.gitattributes", "* filter=x\n");
		rmSync(trace, { force: true });
		await copyTree(repo, target, options);
		expect(manifest(target)).toEqual([".gitattributes", "file"]);
		expect(existsSync(trace)).toBe(false);
		// The same settings do run it where nothing holds them back.
		tryGit("status");
		expect(existsSync(trace)).toBe(true);
	});

	it("fetches nothing for a partial clone, whose transport could be any program", async () => {
		const { program, trace } = canary(scratch);
		scratch.file("repo/.gitignore", "*.log\n");
		scratch.file("repo/file");
		commitAll(repo);
		git(repo, "config", "extensions.partialClone", "origin");
		git(repo, "config", "core.repositoryFormatVersion", "1");
		git(repo, "config", "remote.origin.url", `ext::${program}`);
		git(repo, "config", "remote.origin.promisor", "true");
		git(repo, "config", "protocol.ext.allow", "always");
		const blob = git(repo, "rev-parse", "HEAD:.gitignore").trim();
		git(repo, "update-index", "--skip-worktree", ".gitignore");
		rmSync(join(repo, ".gitignore"));
		rmSync(join(repo, ".git/objects", blob.slice(0, 2), blob.slice(2)));
		scratch.file("repo/x.log");
		await copyTree(repo, target, options);
		expect(existsSync(trace)).toBe(false);
		// Git itself would have run it to get the missing .gitignore.
		tryGit("ls-files", "--others", "--exclude-standard");
		expect(existsSync(trace)).toBe(true);
	});

	it("cannot have its own programs taken for git by a relative PATH", async () => {
		const { program, trace } = canary(scratch);
		scratch.file("repo/file");
		commitAll(repo);
		copyFileSync(program, join(repo, "git"));
		const path = `.::${process.env.PATH ?? ""}`;
		await withEnvironment({ PATH: path }, () => copyTree(repo, target, options));
		expect(manifest(target)).toEqual(["file", "git"]);
		expect(existsSync(trace)).toBe(false);
	});

	it("cannot point elsewhere by core.worktree", async () => {
		scratch.file("repo/file");
		commitAll(repo);
		scratch.file("out/secret", "canary-out");
		git(repo, "config", "core.worktree", scratch.path("out"));
		const error = await refusal(copyTree(repo, target, options));
		expect(error.code).toBe("invalid");
		expect(readdirSync(target)).toEqual([]);
	});

	it.each(["../out/secret", "/etc/passwd", "a/../../x", ".git/config"])("cannot have %j in its index", async (path) => {
		scratch.file("out/secret", "canary-out");
		scratch.file("repo/file");
		commitAll(repo);
		// Git does not write such a path, so another of the same length is changed into it.
		const stand = "p".repeat(path.length);
		scratch.file(`repo/${stand}`);
		git(repo, "-c", "index.version=2", "add", stand);
		const index = join(repo, ".git/index");
		const bytes = readFileSync(index).toString("latin1").replace(stand, path).slice(0, -20);
		const sum = execFileSync("sha1sum", { input: Buffer.from(bytes, "latin1"), encoding: "utf8" }).slice(0, 40);
		writeFileSync(index, Buffer.concat([Buffer.from(bytes, "latin1"), Buffer.from(sum, "hex")]));
		rmSync(join(repo, stand));
		if (path === ".git/config") {
			await copyTree(repo, target, options);
			expect(manifest(target)).toEqual(["file"]);
			return;
		}
		const error = await refusal(copyTree(repo, target, options));
		expect(error.message).toContain(`git lists ${JSON.stringify(path)}, which leads out of the repository`);
		expect(error.details).toEqual({ field: "inputs.repo", paths: [path] });
		expect(readdirSync(target)).toEqual([]);
	});

	it("cannot hold the copy up with a setting that starts with a tilde", async () => {
		scratch.file("repo/file");
		commitAll(repo);
		git(repo, "config", "core.excludesFile", "~/.gitignore");
		git(repo, "config", "include.path", "~/.gitconfig-extra");
		expect((await copyTree(repo, target, options)).files).toBe(1);
	});
});
