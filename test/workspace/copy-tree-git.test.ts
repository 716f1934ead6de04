import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyTree } from "../../provider/workspace";
import { commitAll, git, isRoot, manifest, NOBODY, refusal, Scratch, untilDone } from "./scratch";

const itAsRoot = isRoot ? it : it.skip;
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

/** A program that leaves a trace when it is run. */
function canary(): { readonly program: string; readonly trace: string } {
	const trace = scratch.path("trace");
	const program = scratch.file("canary.sh", `#!/bin/sh\ntouch '${trace}'\n`);
	chmodSync(program, 0o755);
	return { program, trace };
}

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
			[".gitignore", "db", "db/init.sql", "frontend", "frontend/mocks", "frontend/mocks/data", "frontend/mocks/data/users.json", "new", "new/untracked", "tracked.env"].sort(),
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
		expect((await refusal(copyTree(join(repo, "app"), target, options))).message).toContain('"shared" is a symbolic link to "../shared"');
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
		expect(manifest(target)).toEqual(["elsewhere", "elsewhere/inner", "to-directory", "to-directory/inner", "to-file", "to-link"]);
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
		await withEnvironment({ HOME: home, GIT_DIR: "/nowhere", GIT_WORK_TREE: "/", GIT_INDEX_FILE: "/nowhere" }, () => copyTree(repo, target, options));
		expect(manifest(target)).toEqual(["file.mine", "other.mine"]);
	});
});

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
		expect(names.map((name) => name.slice("vendor/li b/".length))).toEqual([".gitignore", ".gitmodules", "deep", "deep/inner", "deep/inner/inner.txt", "lib.txt", "new.txt"]);
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
		expect(manifest(target)).toEqual([".worktrees", ".worktrees/x", ".worktrees/x/file", "file", "nested", "nested/a", "nested/b"]);
	});
});

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
		const { program, trace } = canary();
		scratch.file("repo/file");
		commitAll(repo);
		for (const hook of ["post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit"]) {
			writeFileSync(join(repo, ".git/hooks", hook), `#!/bin/sh\nexec '${program}'\n`, { mode: 0o755 });
		}
		for (const key of ["core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "diff.external", "filter.x.clean", "filter.x.process", "credential.helper", "core.gitProxy"]) {
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
		const { program, trace } = canary();
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
		await copyTree(repo, target, options).catch((thrown: unknown) => thrown);
		expect(manifest(target).filter((name) => name !== "file")).toEqual([]);
	});

	it("cannot hold the copy up with a setting that starts with a tilde", async () => {
		scratch.file("repo/file");
		commitAll(repo);
		git(repo, "config", "core.excludesFile", "~/.gitignore");
		git(repo, "config", "include.path", "~/.gitconfig-extra");
		expect((await copyTree(repo, target, options)).files).toBe(1);
	});
});

describe("git itself", () => {
	it("is not needed where there is no repository, and named where it is missing", async () => {
		scratch.file("plain/file");
		const missing = { ...options, git: scratch.path("no-git") };
		expect((await copyTree(scratch.path("plain"), target, missing)).files).toBe(1);
		commitAll(repo);
		const error = await refusal(copyTree(repo, scratch.directory("base/two"), missing));
		expect(error.code).toBe("preflight");
		expect(error.message).toContain(JSON.stringify(scratch.path("no-git")));
		expect(error.hint).toContain("Install git");
	});

	it("is heard when the repository is damaged", async () => {
		scratch.file("repo/file");
		commitAll(repo);
		writeFileSync(join(repo, ".git/index"), "not an index");
		const error = await refusal(copyTree(repo, target, options));
		expect(error.code).toBe("invalid");
		expect(error.message).toMatch(/git cannot list inputs\.repo ".*": .*index/);
	});

	it("is ended when the caller goes away", async () => {
		commitAll(repo);
		const slow = scratch.file("slow-git", "#!/bin/sh\nexec sleep 60\n");
		chmodSync(slow, 0o755);
		const stop = new AbortController();
		setTimeout(() => stop.abort(), 50);
		const started = performance.now();
		expect((await refusal(copyTree(repo, target, { git: slow, signal: stop.signal }))).code).toBe("aborted");
		expect(performance.now() - started).toBeLessThan(5_000);
	});

	describe("where the repository is another user's", () => {
		const give = () => {
			scratch.file("repo/file");
			commitAll(repo);
			execFileSync("chown", ["-R", `${NOBODY.uid}`, repo]);
		};

		itAsRoot("says so in its own words, and the way out is named", async () => {
			give();
			const home = scratch.directory("home");
			const error = await withEnvironment({ HOME: home, GIT_CONFIG_SYSTEM: "/dev/null" }, () => refusal(copyTree(repo, target, options)));
			expect(error.code).toBe("preflight");
			expect(error.message).toContain(`fatal: detected dubious ownership in repository at '${repo}'`);
			expect(error.hint).toContain("safe.directory");
			expect(readdirSync(target)).toEqual([]);
		});

		itAsRoot.each(["~/../repo", "*"])("goes by the person's safe.directory = %s, and nothing else of theirs", async (value) => {
			give();
			const { program, trace } = canary();
			const home = scratch.directory("home");
			scratch.file("home/.gitconfig", `[safe]\n\tdirectory = ${value === "*" ? "*" : repo}\n[core]\n\tfsmonitor = ${program}\n\texcludesFile = ${scratch.file("ignore", "file\n")}\n`);
			scratch.file("repo/untracked");
			await withEnvironment({ HOME: home }, () => copyTree(repo, target, options));
			expect(manifest(target)).toEqual(["file", "untracked"]);
			expect(existsSync(trace)).toBe(false);
		});

		itAsRoot("lets who called sudo copy their own", async () => {
			give();
			await withEnvironment({ HOME: scratch.directory("home"), GIT_CONFIG_SYSTEM: "/dev/null", SUDO_UID: `${NOBODY.uid}` }, () => copyTree(repo, target, options));
			expect(manifest(target)).toEqual(["file"]);
		});
	});

	it("may list the sandbox's own directory as ignored", async () => {
		scratch.file("repo/.gitignore", ".sandboxes/\n");
		commitAll(repo);
		const inner = scratch.directory("repo/.sandboxes/demo");
		expect((await copyTree(repo, inner, options)).files).toBe(1);
		expect(manifest(inner)).toEqual([".gitignore"]);
	});

	it("copies a repository whose path is moved in between by path, not by chance", async () => {
		scratch.file("repo/file");
		commitAll(repo);
		renameSync(repo, scratch.path("moved"));
		symlinkSync("moved", repo);
		await copyTree(repo, target, options);
		expect(manifest(target)).toEqual(["file"]);
	});
});

it("copies 5 000 small files of a repository (time is printed)", async () => {
	for (let index = 0; index < 5_000; index += 1) scratch.file(`repo/${index % 100}/${index}`, "x".repeat(index % 4_000));
	commitAll(repo);
	const started = performance.now();
	const report = await copyTree(repo, target, options);
	process.stdout.write(`copyTree, 5 000 files in 100 directories, git: ${Math.round(performance.now() - started)} ms\n`);
	expect(report.files).toBe(5_000);
}, 120_000);

/** Sets variables for one call; `process.env` is where git's environment is picked from. */
async function withEnvironment<T>(variables: Readonly<Record<string, string>>, call: () => Promise<T>): Promise<T> {
	const before = new Map(Object.keys(variables).map((name) => [name, process.env[name]]));
	Object.assign(process.env, variables);
	try {
		return await call();
	} finally {
		for (const [name, value] of before) {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
	}
}
