import { spawn } from "node:child_process";
import {
	chmodSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmdirSync,
	rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Identity, isRunning, processesOf, until } from "../../engine/support/processes";
import { kill } from "../../support/kill";

export const REPOSITORY = resolve(__dirname, "../../..");

export interface Outcome {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	/** Everything printed, both streams in the order they came. */
	readonly text: string;
	readonly stdout: string;
}

export interface RunOptions {
	readonly cwd: string;
	readonly env?: Readonly<Record<string, string | undefined>>;
	/** Called with all that was printed so far, whenever there is more. */
	readonly onOutput?: (text: string, pid: number) => void;
	/** In a process group of its own, as a shell starts it in a terminal. */
	readonly ownGroup?: boolean;
}

export interface SandboxRecord {
	readonly supervisor: Identity;
	readonly init: Identity;
	readonly cgroups: readonly { readonly folder: string }[];
}

/**
 * A folder outside the repository, where nothing resolves by accident: with a file backend, a Pulumi home and a
 * folder of sandboxes. Whatever is started in it ends with it.
 */
export class OutsideFolder {
	readonly root: string;
	readonly sandboxes: string;
	/** For pulumi: nothing of whoever runs the tests but the PATH. */
	readonly env: Readonly<Record<string, string>>;
	private readonly running = new Set<number>();
	private readonly seen = new Map<string, SandboxRecord>();

	constructor() {
		this.root = mkdtempSync(join(tmpdir(), "sandboxer-outside-"));
		// Sandboxes of root run under ids of their own: those must be able to pass through.
		chmodSync(this.root, 0o711);
		this.sandboxes = this.path("sandboxes");
		for (const name of ["backend", "home", "tmp"]) mkdirSync(this.path(name));
		this.env = {
			PATH: process.env.PATH ?? "",
			HOME: this.path("home"),
			TMPDIR: this.path("tmp"),
			PULUMI_HOME: this.path("home", ".pulumi"),
			PULUMI_BACKEND_URL: `file://${this.path("backend")}`,
			PULUMI_CONFIG_PASSPHRASE: "test",
			PULUMI_SKIP_UPDATE_CHECK: "true",
			SANDBOXER_STATE_DIR: this.sandboxes,
		};
	}

	path(...names: string[]): string {
		return join(this.root, ...names);
	}

	/** A copy of an example as the repository has it. */
	copyExample(example: string, to: string): string {
		const installed = /\/(node_modules|package-lock\.json|Pulumi\.[^/]+\.yaml)$/;
		cpSync(join(REPOSITORY, "examples", example), to, {
			recursive: true,
			preserveTimestamps: true,
			filter: (file) => !installed.test(file),
		});
		return to;
	}

	async run(command: string, args: readonly string[], { cwd, env, onOutput, ownGroup }: RunOptions): Promise<Outcome> {
		const child = spawn(command, args, {
			cwd,
			env: { ...(env ?? this.env) },
			stdio: ["ignore", "pipe", "pipe"],
			detached: ownGroup ?? false,
		});
		const { pid } = child;
		if (pid !== undefined) this.running.add(pid);
		let text = "";
		let stdout = "";
		const heard = (chunk: Buffer) => {
			text += String(chunk);
			onOutput?.(text, pid ?? 0);
		};
		child.stdout.on("data", (chunk: Buffer) => {
			stdout += String(chunk);
			heard(chunk);
		});
		child.stderr.on("data", heard);
		try {
			const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((done, fail) => {
				child.once("error", fail);
				child.once("exit", (...end) => setTimeout(() => done(end), 20));
			});
			return { code, signal, text, stdout };
		} finally {
			if (pid !== undefined) this.running.delete(pid);
		}
	}

	/** Runs, and fails with what was printed unless it succeeds. */
	async ok(command: string, args: readonly string[], options: RunOptions): Promise<Outcome> {
		const outcome = await this.run(command, args, options);
		if (outcome.code === 0) return outcome;
		throw new Error(`${command} ${args.join(" ")} ended with ${outcome.code ?? outcome.signal}:\n${outcome.text}`);
	}

	/** Ids of the sandboxes that have a folder. */
	sandboxIds(): string[] {
		try {
			return readdirSync(join(this.sandboxes, "bwrap")).filter((name) => !name.startsWith("."));
		} catch {
			return [];
		}
	}

	/** Asserts that a sandbox lives, by its record and its processes; {@link afterTest} looks for it again. */
	assertLives(sandboxId: string): SandboxRecord {
		const file = join(this.sandboxes, "bwrap", sandboxId, "record.json");
		const record = JSON.parse(readFileSync(file, "utf8")) as SandboxRecord;
		this.seen.set(sandboxId, record);
		expect(this.sandboxIds()).toContain(sandboxId);
		expect([record.supervisor, record.init].filter(isRunning)).toHaveLength(2);
		expect(record.cgroups.filter(({ folder }) => !isFolder(folder))).toEqual([]);
		return record;
	}

	/** Asserts that no test leaves a sandbox: no folder, no process, no control group. The next test starts without. */
	async afterTest(): Promise<void> {
		try {
			this.assertNothingLeft();
		} finally {
			await this.endAll();
			this.seen.clear();
		}
	}

	private assertNothingLeft(): void {
		const records = [...this.seen.values()];
		expect(this.sandboxIds()).toEqual([]);
		expect(processesOf(this.root)).toEqual([]);
		expect(records.flatMap(({ supervisor, init }) => [supervisor, init]).filter(isRunning)).toEqual([]);
		expect(records.flatMap(({ cgroups }) => cgroups).filter(({ folder }) => isFolder(folder))).toEqual([]);
	}

	async dispose(): Promise<void> {
		await this.endAll();
		rmSync(this.root, { recursive: true, force: true });
	}

	/** Ends what a failed test has left running: by hand, not by the package, which may be what failed. */
	private async endAll(): Promise<void> {
		for (const pid of this.running) kill(pid);
		await until("what was started has ended", () => this.running.size === 0);
		for (const sandboxId of this.sandboxIds()) {
			const folder = join(this.sandboxes, "bwrap", sandboxId);
			const record = readRecord(folder);
			if (record?.supervisor !== undefined) kill(record.supervisor.pid);
			await until("the sandbox has ended", () => processesOf(folder).length === 0);
			for (const group of record?.cgroups ?? []) if (isFolder(group.folder)) rmdirSync(group.folder);
			rmSync(folder, { recursive: true, force: true });
		}
	}
}

function readRecord(folder: string): Partial<SandboxRecord> | undefined {
	const file = join(folder, "record.json");
	return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Partial<SandboxRecord>) : undefined;
}

function isFolder(path: string): boolean {
	try {
		readdirSync(path);
		return true;
	} catch {
		return false;
	}
}
