import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { type ProcessIdentity, ProcessTable } from "../../../provider/identity";

const REPOSITORY = resolve(__dirname, "../../..");
export const BIN = join(REPOSITORY, "dist/cli/sandboxer.js");
export const BACKENDS = resolve(__dirname, "../fixtures/backends");

/** What a run of the command ended with. */
export interface Ended {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** A run that goes on. */
export interface Going {
	readonly child: ChildProcessWithoutNullStreams;
	printed(): string;
	readonly ended: Promise<Ended>;
}

export interface RunOptions {
	/** Standard input; none: an empty one. "open": nothing, and never closed. */
	readonly input?: string | "open";
	readonly env?: Readonly<Record<string, string>>;
	readonly cwd?: string;
}

/** A folder with sandboxes of ext.paper, in which the built command runs as from a shell. */
export class Desk {
	readonly folder = mkdtempSync(join(tmpdir(), "sandboxer-desk-"));
	readonly state = join(this.folder, "state");
	readonly paper = join(this.folder, "paper");
	private readonly going = new Set<ChildProcessWithoutNullStreams>();

	get env(): Record<string, string> {
		return { PATH: process.env["PATH"] ?? "", HOME: this.folder, SANDBOXER_STATE_DIR: this.state };
	}

	/** The settings that make ext.paper known. */
	get config(): string[] {
		return ["-c", `extensionPath=${BACKENDS}`, "-c", `profilePath=${BACKENDS}`, "-c", `paper.folder=${this.paper}`];
	}

	start(args: readonly string[], { input = "", env = {}, cwd = this.folder }: RunOptions = {}): Going {
		const child = spawn(process.execPath, [BIN, ...args], { cwd, env: { ...this.env, ...env } });
		this.going.add(child);
		child.stdin.on("error", () => undefined);
		if (input !== "open") child.stdin.end(input);
		let [stdout, stderr] = ["", ""];
		child.stdout.on("data", (chunk) => {
			stdout += String(chunk);
		});
		child.stderr.on("data", (chunk) => {
			stderr += String(chunk);
		});
		const ended = new Promise<Ended>((done) => {
			child.once("close", (code) => {
				this.going.delete(child);
				done({ code, stdout, stderr });
			});
		});
		return { child, printed: () => stdout + stderr, ended };
	}

	/** Runs a subcommand, with ext.paper known to it. */
	run(args: readonly string[], options?: RunOptions): Promise<Ended> {
		return this.start(this.complete(args), options).ended;
	}

	complete([command = "", ...args]: readonly string[]): string[] {
		return [command, ...this.config, ...args];
	}

	/** Runs it with `--json`: the exit status and the one document. */
	async json<T = Record<string, unknown>>(
		args: readonly string[],
		options?: RunOptions,
	): Promise<Ended & { document: T }> {
		const [command = "", ...rest] = args;
		const ended = await this.run([command, "--json", ...rest], options);
		if (ended.stderr !== "") throw new Error(`With --json there was something on standard error: ${ended.stderr}`);
		return { ...ended, document: JSON.parse(ended.stdout) as T };
	}

	/** Puts a sandbox there. Its lease ends so many minutes from now. */
	box(
		sandboxId: string,
		changes: { endsInMinutes?: number; alive?: boolean | undefined; urn?: string; [key: string]: unknown } = {},
	) {
		const { endsInMinutes = 60, urn = `urn:pulumi:dev::shop::x::${sandboxId}`, ...rest } = changes;
		const now = Date.now();
		const handle = { extension: "ext.paper", sandbox_id: sandboxId, host: "local", generation: 1 };
		const readyAt = new Date(now - 3_600_000).toISOString();
		this.write(`${sandboxId}.box`, {
			handle,
			owner: { scope: "s", project: "shop", stack: "dev", urn },
			labels: {},
			digest: "d",
			phase: "ready",
			alive: true,
			createdAt: readyAt,
			readyAt,
			expiresAt: new Date(now + endsInMinutes * 60_000).toISOString(),
			profile: { id: "profile.paper", version: "3" },
			credentialRoutes: [{ ref: "DB", env: "DATABASE_URL" }],
			words: `words of ${sandboxId}`,
			max: 4 * 3_600_000,
			...rest,
		});
		return handle;
	}

	write(name: string, record: unknown): void {
		mkdirSync(this.paper, { recursive: true });
		writeFileSync(join(this.paper, name), JSON.stringify(record));
	}

	has(name: string): boolean {
		return existsSync(join(this.paper, name));
	}

	read(name: string): Record<string, unknown> {
		return JSON.parse(readFileSync(join(this.paper, name), "utf8"));
	}

	/** Calls that changed something, in order. */
	calls(): { method: string; [fact: string]: unknown }[] {
		const file = join(this.paper, "calls");
		if (!existsSync(file)) return [];
		return readFileSync(file, "utf8")
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
	}

	/** Takes all sandboxes and calls away. */
	clear(): void {
		rmSync(this.paper, { recursive: true, force: true });
	}

	/** Ends what still runs: keepers by what they wrote themselves. They end their commands. */
	async dispose(): Promise<void> {
		for (const child of this.going) child.kill("SIGKILL");
		const table = new ProcessTable();
		for (const keeper of this.keepers()) table.signal(keeper, "SIGTERM");
		await until("nothing runs there any more", () => this.processes().length === 0);
		rmSync(this.folder, { recursive: true, force: true });
	}

	/** Who holds executions open, as the files say. */
	keepers(): ProcessIdentity[] {
		if (!existsSync(this.state)) return [];
		return readdirSync(this.state, { recursive: true, encoding: "utf8" })
			.filter((file) => basename(file) === "start.json")
			.map((file) => (JSON.parse(readFileSync(join(this.state, file), "utf8")) as { keeper: ProcessIdentity }).keeper);
	}

	/** What runs in this folder, or below it. */
	processes(): string[] {
		return readdirSync("/proc").filter((pid) => {
			if (!/^\d+$/.test(pid)) return false;
			try {
				return readlinkSync(`/proc/${pid}/cwd`).startsWith(this.folder);
			} catch {
				return false;
			}
		});
	}
}

/** Waits until something holds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
	const deadline = performance.now() + 30_000;
	while (!holds()) {
		if (performance.now() > deadline) throw new Error(`It did not come about that ${what}.`);
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}
