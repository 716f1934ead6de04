import { spawn } from "node:child_process";
import {
	chmodSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { BwrapRecord } from "../../../extensions/bwrap/record";
import { endRunsOf, type Identity } from "./processes";

const REPOSITORY = resolve(__dirname, "../../..");

export interface Outcome {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	/** Everything printed, both streams in the order they came. */
	readonly text: string;
	readonly stdout: string;
}

export interface Running {
	readonly pid: number;
	/** Everything printed so far. */
	printed(): string;
	readonly ended: Promise<Outcome>;
}

/** A resource as it stands in an exported state. */
export interface StateResource {
	readonly urn: string;
	readonly type: string;
	readonly id?: string;
	readonly custom: boolean;
	readonly inputs?: Record<string, unknown>;
	readonly outputs?: Record<string, unknown>;
	readonly initErrors?: string[];
}

export interface StackOptions {
	/** Of another stack: the same state folder for sandboxes. */
	readonly sharesSandboxesWith?: TestStack;
	readonly project?: string;
	readonly name?: string;
	readonly config?: Readonly<Record<string, string>>;
	readonly env?: Readonly<Record<string, string>>;
	readonly esm?: boolean;
}

/** A project in a folder of its own, with a file backend, run by the real CLI against the built package. */
export class TestStack {
	readonly folder: string;
	readonly sandboxes: string;
	readonly name: string;
	/**
	 * How the lines of an inventory's files begin that tell of what Pulumi itself writes in every run, a preview too. A
	 * folder's own line has a blank after its path: its time alone is left out, not what is in it.
	 */
	readonly ofPulumi: readonly string[];
	env: Record<string, string>;
	private readonly esm: boolean;

	constructor(program: string, options: StackOptions = {}) {
		this.folder = mkdtempSync(join(tmpdir(), "sandboxer-stack-"));
		// Sandboxes of root run under ids of their own: those must be able to pass through.
		chmodSync(this.folder, 0o711);
		this.name = options.name ?? "test";
		this.esm = options.esm ?? false;
		this.sandboxes = options.sharesSandboxesWith?.sandboxes ?? join(this.folder, "sandboxes");
		for (const folder of ["state", "home", "tmp", "node_modules"]) mkdirSync(join(this.folder, folder));
		this.ofPulumi = ["state", "home", "tmp ", "tmp/ts-node-", "tmp/pulumi-"].map((start) => join(this.folder, start));
		symlinkSync(REPOSITORY, join(this.folder, "node_modules", "pulumi-sandboxer"));
		symlinkSync(join(REPOSITORY, "node_modules", "@pulumi"), join(this.folder, "node_modules", "@pulumi"));
		writeFileSync(join(this.folder, "package.json"), '{ "private": true }\n');
		const main = this.esm ? "index.mjs" : "index.js";
		writeFileSync(
			join(this.folder, "Pulumi.yaml"),
			`name: ${options.project ?? "engine-test"}\nruntime: { name: nodejs, options: { typescript: false } }\nmain: ${main}\n`,
		);
		const config = Object.entries({ "sandboxer:scope": "test", ...options.config }).map(
			([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`,
		);
		writeFileSync(join(this.folder, `Pulumi.${this.name}.yaml`), `config:\n${config.join("")}`);
		this.env = {
			PATH: process.env.PATH ?? "",
			HOME: join(this.folder, "home"),
			// The language host leaves its pipes there, and ts-node its cache.
			TMPDIR: join(this.folder, "tmp"),
			PULUMI_HOME: join(this.folder, "home", ".pulumi"),
			PULUMI_BACKEND_URL: `file://${join(this.folder, "state")}`,
			PULUMI_CONFIG_PASSPHRASE: "test",
			PULUMI_SKIP_UPDATE_CHECK: "true",
			SANDBOXER_STATE_DIR: this.sandboxes,
			...options.env,
		};
		this.program(program);
	}

	/** Replaces the program. Its text gets `Sandbox` and `pulumi`, and exports by `exports.name = …`. */
	program(text: string): void {
		const head = this.esm
			? 'import * as pulumi from "@pulumi/pulumi";\nimport * as sandboxer from "pulumi-sandboxer";\nconst { Sandbox } = sandboxer;\n'
			: 'const pulumi = require("@pulumi/pulumi");\nconst sandboxer = require("pulumi-sandboxer");\nconst { Sandbox } = sandboxer;\n';
		writeFileSync(join(this.folder, this.esm ? "index.mjs" : "index.js"), head + text);
	}

	write(file: string, text: string): void {
		mkdirSync(resolve(this.folder, file, ".."), { recursive: true });
		writeFileSync(join(this.folder, file), text);
	}

	start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
		const child = spawn("pulumi", [...args, "--stack", this.name, "--non-interactive", "--color=never"], {
			cwd: this.folder,
			env: { ...this.env, ...env },
			stdio: ["ignore", "pipe", "pipe"],
		});
		let text = "";
		let stdout = "";
		child.stdout.on("data", (chunk) => {
			text += String(chunk);
			stdout += String(chunk);
		});
		child.stderr.on("data", (chunk) => {
			text += String(chunk);
		});
		const ended = new Promise<Outcome>((done, fail) => {
			child.once("error", fail);
			child.once("exit", (code, signal) => setTimeout(() => done({ code, signal, text, stdout }), 20));
		});
		return { pid: child.pid ?? 0, printed: () => text, ended };
	}

	run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
		return this.start(args, env).ended;
	}

	/** Runs, and fails with what was printed unless it succeeds. */
	async ok(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
		const outcome = await this.run(args, env);
		if (outcome.code !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${outcome.code}:\n${outcome.text}`);
		return outcome;
	}

	/** Makes the stack in its backend. To be awaited once, before anything else. */
	async init(): Promise<this> {
		await this.ok(["stack", "init"]);
		return this;
	}

	up(): Promise<Outcome> {
		return this.ok(["up", "--yes", "--skip-preview"]);
	}

	destroy(): Promise<Outcome> {
		return this.ok(["destroy", "--yes", "--skip-preview"]);
	}

	refresh(): Promise<Outcome> {
		return this.ok(["refresh", "--yes", "--skip-preview"]);
	}

	async outputs<T = Record<string, never>>(): Promise<T> {
		return JSON.parse((await this.ok(["stack", "output", "--json"])).stdout) as T;
	}

	async exported(): Promise<{ text: string; resources: StateResource[] }> {
		const { stdout } = await this.ok(["stack", "export"]);
		const state = JSON.parse(stdout) as { deployment: { resources?: StateResource[] } };
		return { text: stdout, resources: state.deployment.resources ?? [] };
	}

	/** The sandboxes in the state: the dynamic resources of our module. */
	async sandboxResources(): Promise<StateResource[]> {
		return (await this.exported()).resources.filter(({ type }) => type.startsWith("pulumi-nodejs:dynamic/sandboxer:"));
	}

	/** Ids of the sandbox folders on this machine. */
	sandboxFolders(): string[] {
		try {
			return readdirSync(join(this.sandboxes, "bwrap")).filter((name) => !name.startsWith("."));
		} catch {
			return [];
		}
	}

	record(sandboxId: string): {
		supervisor: Identity;
		init: Identity;
		generation: number;
		claim: number;
		owner: { urn: string };
		expires_at: string;
		cgroups: BwrapRecord["cgroups"];
	} {
		return JSON.parse(readFileSync(join(this.sandboxes, "bwrap", sandboxId, "record.json"), "utf8"));
	}

	/** Ends whatever sandbox and whatever process of a run is left, and removes the folder. */
	async dispose(): Promise<void> {
		await this.run(["destroy", "--yes", "--skip-preview"]).catch(() => undefined);
		await endRunsOf(this.folder);
		rmSync(this.folder, { recursive: true, force: true });
	}
}
