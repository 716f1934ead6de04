import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Outcome, OutsideFolder, REPOSITORY } from "../package/support/outside-folder";
import { Packages, useTarball } from "../package/support/packages";
import { Project } from "../package/support/project";

/** examples/own-project alone, installed by npm and by pnpm, is run in test/package/tarball.test.ts. */
const INSTALLED = ["own-project", "stack-reference", "automation"] as const;

describe("the examples", () => {
	const outside = new OutsideFolder();

	beforeAll(async () => {
		// One install for all: as workspaces of one project, each with the dependencies that it names itself.
		const packages = new Packages(outside);
		const tarball = await packages.pack();
		for (const example of INSTALLED) useTarball(outside.copyExample(example, outside.path(example)), tarball);
		writeFileSync(outside.path("package.json"), JSON.stringify({ private: true, workspaces: INSTALLED }));
		await packages.npmInstall(outside.root);
	});

	afterEach(() => outside.afterTest());

	afterAll(() => outside.dispose());

	it("are all run, here or by test/package/tarball.test.ts", () => {
		expect(readdirSync(join(REPOSITORY, "examples")).sort()).toEqual([...INSTALLED, "quickstart"].sort());
	});

	it("stack-reference reads the outputs of own-project's stack, and none of them has become a secret", async () => {
		const producer = await Project.of(outside, outside.path("own-project"));
		const consumer = await Project.of(outside, outside.path("stack-reference"));
		await producer.up();
		await consumer.ok("config", "set", "producer", "organization/own-project/dev");
		await consumer.up();
		const { sandboxId, reachability, handle } = await producer.outputs();
		outside.assertLives(sandboxId);
		expect(await consumer.outputs()).toEqual({
			sandboxId,
			target: `${sandboxId}, life ${handle.generation}, on local`,
			remoteDir: reachability.remote_dir,
		});
		for (const stack of [producer, consumer])
			for (const format of [[], ["--json"]]) {
				const plain = (await stack.ok("stack", "output", ...format)).stdout;
				expect(plain).toContain(sandboxId);
				expect(plain).not.toContain("[secret]");
				expect((await stack.ok("stack", "output", ...format, "--show-secrets")).stdout).toBe(plain);
			}
		expect((await consumer.exported()).text).not.toContain("ciphertext");
		await consumer.destroy();
		await producer.destroy();
	});

	describe("automation", () => {
		it("makes a sandbox, works with it and removes it", async () => {
			let sandboxId: string | undefined;
			const outcome = await runAutomation("10", (text) => {
				const [, id] = /working with (\S+)/.exec(text) ?? [];
				if (id === undefined || sandboxId !== undefined) return;
				sandboxId = id;
				outside.assertLives(id);
			});
			expect(outcome.text).toMatch(/working with box-\w+ for 10 s: task\.txt/);
			expect(outcome.code).toBe(0);
			await assertNoTrace();
		});

		it.each([
			{ when: "the sandbox is being made, in a terminal", sign: /Bwrap box creating/, ownGroup: true },
			{ when: "it works, in a terminal", sign: /working with box-/, ownGroup: true },
			{ when: "the sandbox is being made, to the script alone", sign: /Bwrap box creating/, ownGroup: false },
		])("leaves nothing after a Ctrl-C while $when", async ({ sign, ownGroup }) => {
			let interrupted = false;
			const outcome = await runAutomation(
				"300",
				(text, pid) => {
					if (interrupted || !sign.test(text)) return;
					interrupted = true;
					process.kill(ownGroup ? -pid : pid, "SIGINT");
				},
				ownGroup,
			);
			expect(outcome.text).toMatch(/removed\n$/);
			expect(outcome.code).toBe(130);
			await assertNoTrace();
		});

		function runAutomation(
			seconds: string,
			onOutput: (text: string, pid: number) => void,
			ownGroup = false,
		): Promise<Outcome> {
			const cwd = outside.path("automation");
			return outside.run("node", ["index.mjs", seconds], { cwd, onOutput, ownGroup });
		}

		/** No sandbox, which `afterEach` looks for, and no stack and no folder of the Automation API either. */
		async function assertNoTrace(): Promise<void> {
			const { stdout } = await outside.ok("pulumi", ["stack", "ls", "--all", "--json"], { cwd: outside.root });
			const stacks = JSON.parse(stdout) as { name: string }[];
			expect(stacks.filter(({ name }) => name.includes("automation"))).toEqual([]);
			expect(readdirSync(outside.path("tmp")).filter((name) => name.startsWith("automation-"))).toEqual([]);
		}
	});

	describe("quickstart, by npm run in a fresh clone", () => {
		it("comes up, says where it is and what next, is unchanged on the second up, and goes down without a trace", async () => {
			const clone = freshClone();
			const first = await npmRun(clone, "up");
			expect(first).toMatch(/Building the package\./);
			const [sandboxId = ""] = outside.sandboxIds();
			const { init } = outside.assertLives(sandboxId);
			const { lease, workspaceDir } = told(first);
			expect(told(first).sandboxId).toBe(sandboxId);
			expect(readdirSync(workspaceDir)).toEqual([]);
			expect(Date.parse(lease)).toBeGreaterThan(Date.now());
			expect(first).toMatch(/What next:\n {2}npm run down .*\n {2}eval "\$\(scripts\/quickstart env\)"/);

			const second = await npmRun(clone, "up");
			expect(second).not.toMatch(/Building the package\./);
			expect(second).toMatch(/3 unchanged/);
			expect(told(second)).toEqual(told(first));
			expect(outside.assertLives(sandboxId).init).toEqual(init);

			await npmRun(clone, "down");
			expect(readdirSync(outside.root)).not.toContain("quickstart-state");
			expect(await npmRun(clone, "down")).toMatch(/nothing to remove/);
		});

		function npmRun(clone: string, script: string): Promise<string> {
			const { PULUMI_BACKEND_URL: _backend, PULUMI_CONFIG_PASSPHRASE: _passphrase, ...env } = outside.env;
			const state = { SANDBOXER_QUICKSTART_STATE: outside.path("quickstart-state") };
			return outside.ok("npm", ["run", script], { cwd: clone, env: { ...env, ...state } }).then(({ text }) => text);
		}

		/** The three lines below "The sandbox is ready". */
		function told(text: string): { sandboxId: string; workspaceDir: string; lease: string } {
			const lines = /The sandbox is ready\.\n {2}sandbox id +(.+)\n {2}workspace +(.+)\n {2}ends at +(.+)\n/;
			const [, sandboxId = "", workspaceDir = "", lease = ""] = lines.exec(text) ?? [];
			return { sandboxId, workspaceDir, lease };
		}

		/** The working tree as git would hand it on, with the packages of this one: what `npm ci` would install again. */
		function freshClone(): string {
			const clone = outside.path("clone");
			const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
				cwd: REPOSITORY,
				encoding: "utf8",
			});
			const wanted = /^(components|provider|extensions|cli|profiles|scripts|examples)\/|^[^/]+$/;
			for (const file of listed.split("\0").filter((name) => wanted.test(name))) {
				mkdirSync(dirname(join(clone, file)), { recursive: true });
				cpSync(join(REPOSITORY, file), join(clone, file), { preserveTimestamps: true });
			}
			const [from, to] = [join(REPOSITORY, "node_modules"), join(clone, "node_modules")];
			const marks = [".built", ".installed-lock.json"];
			mkdirSync(to);
			for (const name of readdirSync(from)) if (!marks.includes(name)) symlinkSync(join(from, name), join(to, name));
			cpSync(join(clone, "package-lock.json"), join(to, ".installed-lock.json"));
			return clone;
		}
	});
});
