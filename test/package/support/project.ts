import { renameSync } from "node:fs";
import type { Outcome, OutsideFolder } from "./outside-folder";

/** A resource as it stands in an exported state. */
export interface StateResource {
	readonly urn: string;
	readonly type: string;
	readonly id?: string;
	readonly inputs?: Readonly<Record<string, unknown>>;
	readonly outputs?: Readonly<Record<string, unknown>>;
}

/** What the programs of these tests export of a sandbox. */
export interface SandboxOutputs {
	readonly sandboxId: string;
	readonly workspaceDir: string;
	readonly reachability: { readonly host: string; readonly remote_dir: string };
	readonly lease: { readonly readyAt: string; readonly expiresAt: string };
	readonly handle: { readonly generation: number };
}

/** A Pulumi project in a folder, with one stack, run by the real CLI. */
export class Project {
	private constructor(
		private readonly outside: OutsideFolder,
		public folder: string,
		readonly stack: string,
	) {}

	static async of(outside: OutsideFolder, folder: string, stack = "dev"): Promise<Project> {
		const project = new Project(outside, folder, stack);
		await project.ok("stack", "init");
		return project;
	}

	moveTo(folder: string): void {
		renameSync(this.folder, folder);
		this.folder = folder;
	}

	run(...args: string[]): Promise<Outcome> {
		return this.outside.run("pulumi", this.complete(args), { cwd: this.folder });
	}

	ok(...args: string[]): Promise<Outcome> {
		return this.outside.ok("pulumi", this.complete(args), { cwd: this.folder });
	}

	up(): Promise<Outcome> {
		return this.ok("up", "--yes", "--skip-preview");
	}

	refresh(): Promise<Outcome> {
		return this.ok("refresh", "--yes", "--skip-preview");
	}

	destroy(): Promise<Outcome> {
		return this.ok("destroy", "--yes", "--skip-preview");
	}

	async outputs<T = SandboxOutputs>(): Promise<T> {
		return JSON.parse((await this.ok("stack", "output", "--json")).stdout) as T;
	}

	async exported(...args: string[]): Promise<{ text: string; resources: StateResource[] }> {
		const { stdout } = await this.ok("stack", "export", ...args);
		const { deployment } = JSON.parse(stdout) as { deployment: { resources?: StateResource[] } };
		return { text: stdout, resources: deployment.resources ?? [] };
	}

	private complete(args: readonly string[]): string[] {
		return [...args, "--stack", this.stack, "--non-interactive", "--color=never"];
	}
}
