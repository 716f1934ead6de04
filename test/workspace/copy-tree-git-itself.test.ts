import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyTree } from "../../provider/workspace";
import { canary, commitAll, itAsRoot, manifest, NOBODY, refusal, Scratch, untilDone, withEnvironment } from "./scratch";

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
		expect(performance.now() - started).toBeLessThan(30_000);
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
			const error = await withEnvironment({ HOME: home, GIT_CONFIG_SYSTEM: "/dev/null" }, () =>
				refusal(copyTree(repo, target, options)),
			);
			expect(error.code).toBe("preflight");
			expect(error.message).toContain(`fatal: detected dubious ownership in repository at '${repo}'`);
			expect(error.hint).toContain("safe.directory");
			expect(readdirSync(target)).toEqual([]);
		});

		const goesBy = async (value: string) => {
			give();
			const { program, trace } = canary(scratch);
			const home = scratch.directory("home");
			const ignore = scratch.file("ignore", "file\nuntracked\n");
			const core = `[core]\n\tfsmonitor = ${program}\n\texcludesFile = ${ignore}\n`;
			scratch.file("home/.gitconfig", `[safe]\n\tdirectory = ${value}\n${core}`);
			scratch.file("repo/untracked");
			await withEnvironment({ HOME: home, GIT_CONFIG_SYSTEM: "/dev/null" }, () => copyTree(repo, target, options));
			expect(manifest(target)).toEqual(["file", "untracked"]);
			expect(existsSync(trace)).toBe(false);
		};

		itAsRoot("goes by the person's safe.directory, and nothing else of theirs", () => goesBy(repo));

		itAsRoot("goes by the person's safe.directory of all directories", () => goesBy("*"));

		itAsRoot("lets who called sudo copy their own", async () => {
			give();
			await withEnvironment(
				{ HOME: scratch.directory("home"), GIT_CONFIG_SYSTEM: "/dev/null", SUDO_UID: `${NOBODY.uid}` },
				() => copyTree(repo, target, options),
			);
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
});
