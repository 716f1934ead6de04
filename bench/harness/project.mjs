import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const STACK = "bench";

/** A Pulumi project in plain JavaScript, in a folder of its own, with its state in files beside it. */
export class Project {
	/**
	 * @param {import("./workbench.mjs").Workbench} workbench
	 * @param {string} name
	 * @param {{ program: string, env?: Readonly<Record<string, string>> }} what
	 */
	static async make(workbench, name, { program, env = {} }) {
		const project = new Project(workbench, name, env);
		writeFileSync(join(project.folder, "index.js"), program);
		await project.run(["stack", "init"]);
		return project;
	}

	#env;

	constructor(workbench, name, env) {
		this.workbench = workbench;
		this.folder = workbench.makeFolder(name);
		mkdirSync(join(this.folder, "state"));
		writeFileSync(
			join(this.folder, "Pulumi.yaml"),
			`name: ${name}\nruntime: { name: nodejs, options: { typescript: false } }\nmain: index.js\n`,
		);
		writeFileSync(join(this.folder, `Pulumi.${STACK}.yaml`), "config: {}\n");
		const home = workbench.makeFolder("home");
		this.#env = {
			PATH: process.env.PATH ?? "",
			HOME: home,
			PULUMI_HOME: join(home, ".pulumi"),
			PULUMI_BACKEND_URL: `file://${join(this.folder, "state")}`,
			PULUMI_CONFIG_PASSPHRASE: "bench",
			PULUMI_SKIP_UPDATE_CHECK: "true",
			...env,
		};
	}

	/**
	 * Runs the CLI, and fails with what it printed unless it succeeds.
	 *
	 * @param {readonly string[]} args
	 * @param {Readonly<Record<string, string>>} env
	 * @returns {Promise<string>} its standard output
	 */
	run(args, env = {}) {
		if (this.workbench.isClosing) throw new Error("The run is being ended.");
		const child = spawn("pulumi", [...args, "--stack", STACK, "--non-interactive", "--color=never"], {
			cwd: this.folder,
			env: { ...this.#env, ...env },
			stdio: ["ignore", "pipe", "pipe"],
			// A Ctrl-C is for this process alone, which then ends all it has started.
			detached: true,
		});
		let stdout = "";
		let stderr = "";
		child.stdout.on("data", (chunk) => {
			stdout += chunk;
		});
		child.stderr.on("data", (chunk) => {
			stderr += chunk;
		});
		return new Promise((resolve, reject) => {
			child.once("error", reject);
			child.once("close", (code) => {
				if (code === 0) resolve(stdout);
				else reject(new Error(`pulumi ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`));
			});
		});
	}

	/**
	 * One `pulumi up` without a preview, from the start of the CLI to its end.
	 *
	 * @param {number} count what the program finds in BENCH_COUNT
	 * @returns {Promise<number>} seconds
	 */
	async up(count) {
		const start = performance.now();
		await this.run(["up", "--yes", "--skip-preview"], { BENCH_COUNT: String(count) });
		return (performance.now() - start) / 1000;
	}

	async destroy() {
		await this.run(["destroy", "--yes", "--skip-preview"]);
	}

	/** The resources of the state, as `pulumi stack export` tells them. */
	async resources() {
		const { deployment } = JSON.parse(await this.run(["stack", "export"]));
		return deployment.resources;
	}
}
