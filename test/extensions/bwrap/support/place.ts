import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { BwrapRecord } from "../../../../extensions/bwrap/record";
import type { Handle } from "../../../../provider/contract";
import { kill } from "../../../support/kill";
import { wish } from "./host";
import type { Entered, Wish } from "./messages";
import { type ProviderOptions, ProviderProcess } from "./provider-process";
import type { Staged } from "./staged";
import { survivors, type Trace, traces } from "./traces";
import type { User } from "./users";

/** A sandbox that a test made. */
export interface Box {
	readonly handle: Handle;
	readonly directory: string;
	readonly workspace: string;
	readonly record: BwrapRecord;
}

/** A state folder of one user, the provider processes that work on it, and the end of all of it. */
export class Place {
	readonly folder = mkdtempSync(join(tmpdir(), "bwrap-place-"));
	readonly stateDir = join(this.folder, "state");
	readonly home = join(this.folder, "home");
	readonly path = process.env["PATH"] ?? "";
	readonly #providers: ProviderProcess[] = [];
	readonly #cgroups = new Set<string>();

	constructor(
		private readonly staged: Staged,
		private readonly user: User,
	) {
		chmodSync(this.folder, 0o711);
		mkdirSync(this.stateDir, { mode: 0o711 });
		mkdirSync(join(this.home, ".ssh"), { recursive: true, mode: 0o700 });
		if (user.uid !== undefined) for (const path of [this.stateDir, this.home]) chownSync(path, user.uid, user.uid);
	}

	/** A new provider process, by default of the place's own user. */
	provider(options: Partial<ProviderOptions> = {}): ProviderProcess {
		const { staged, user, stateDir, home, path } = this;
		const provider = new ProviderProcess({ staged, user, stateDir, home, path, ...options });
		this.#providers.push(provider);
		return provider;
	}

	/** One that is there already. */
	get any(): ProviderProcess {
		return this.#providers.find(({ runs }) => runs) ?? this.provider();
	}

	async make(changes: Partial<Wish> = {}, provider = this.any): Promise<Box> {
		const { handle } = await provider.do("provision", wish(changes));
		return this.box(handle);
	}

	box(handle: Handle): Box {
		const directory = String(handle["remote_dir"]);
		const record = JSON.parse(readFileSync(join(directory, "record.json"), "utf8")) as BwrapRecord;
		for (const { folder } of record.cgroups) this.#cgroups.add(folder);
		return { handle, directory, workspace: join(directory, "workspace"), record };
	}

	/** Runs a command in a sandbox through the extension's own way in. */
	enter({ directory }: Box, command: readonly string[], timeoutSeconds = 60): Promise<Entered> {
		return this.any.do("enter", { directory, command, timeoutSeconds });
	}

	/** A shell script in a sandbox; what it printed. */
	async sh(box: Box, script: string, ...args: string[]): Promise<Entered> {
		return this.enter(box, ["sh", "-c", script, "sh", ...args]);
	}

	/** A process of the place's user outside of every sandbox; whoever asks ends it. */
	outsider([program = "", ...args]: readonly string[]): ChildProcess {
		const id = String(this.user.uid);
		const become = this.user.uid === undefined ? [] : ["setpriv", "--reuid", id, "--regid", id, "--clear-groups"];
		const [first = "", ...rest] = [...become, program, ...args];
		return spawn(first, rest, { cwd: "/", stdio: "ignore" });
	}

	/** Everything of this place's sandboxes that still runs. */
	traces(): Trace[] {
		return traces(basename(this.folder));
	}

	/** Kills each of them. */
	killAll(): void {
		for (const { pid } of this.traces()) kill(pid);
	}

	/** What is left of the sandboxes. */
	leftovers(): string[] {
		return [
			...survivors(basename(this.folder)).map(({ pid, command }) => `process ${pid}: ${command}`),
			...[...this.#cgroups].filter(existsSync),
		];
	}

	/** Removes all sandboxes, ends what still runs, and tells what the extension itself had left. */
	async dispose(): Promise<string[]> {
		const trouble: string[] = [];
		try {
			for (const { handle } of await this.any.do("locate", {})) {
				const { remains } = await this.any.do("teardown", handle);
				trouble.push(...remains);
			}
		} catch (thrown) {
			trouble.push(String(thrown));
		}
		await Promise.all(this.#providers.map((provider) => provider.end()));
		trouble.push(...this.leftovers());
		this.killAll();
		rmSync(this.folder, { recursive: true, force: true });
		return trouble;
	}
}
