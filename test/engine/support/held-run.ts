import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Checkpoint } from "../../../provider/contract/checkpoint";
import { allProcesses, type SeenProcess, until } from "./processes";
import type { Outcome, Running, TestStack } from "./test-stack";

/** How long a run may take to come somewhere. Far more than it needs: the machine may be busy. */
export const PATIENCE_MS = 120_000;

let runs = 0;

/** The environment of a run that is held at a checkpoint, or fails there. */
export function stopping(checkpoint: Checkpoint, file: string, how: "hold" | "throw"): Record<string, string> {
	return {
		NODE_OPTIONS: `--require=${join(__dirname, "stop-at-checkpoint.cjs")}`,
		STOP_AT: checkpoint,
		STOP_FILE: file,
		STOP_HOW: how,
	};
}

/** A run of the CLI whose provider is held at a checkpoint. */
export class HeldRun {
	private constructor(
		/** What the CLI does, such as "up". */
		readonly command: string,
		readonly cli: Running,
		/** The Node process of the provider, not the launcher above it. */
		readonly provider: SeenProcess,
		private readonly file: string,
	) {}

	/** Starts a run and waits until its provider is at the checkpoint; fails where it never comes there. */
	static async start(stack: TestStack, command: "up" | "destroy", checkpoint: Checkpoint): Promise<HeldRun> {
		runs += 1;
		const file = join(stack.folder, `stopped-${runs}`);
		const cli = stack.start([command, "--yes", "--skip-preview"], stopping(checkpoint, file, "hold"));
		let ended: Outcome | undefined;
		void cli.ended.then((outcome) => {
			ended = outcome;
		});
		await until(`${command} comes to ${checkpoint}`, () => existsSync(file) || ended !== undefined, PATIENCE_MS);
		if (!existsSync(file)) throw new Error(`${command} ended and never came to ${checkpoint}:\n${ended?.text}`);
		const pid = Number(readFileSync(file, "utf8"));
		const provider = allProcesses().find((seen) => seen.pid === pid);
		if (provider === undefined) throw new Error(`the provider ${pid} ended while it was held at ${checkpoint}`);
		return new HeldRun(command, cli, provider, file);
	}

	/** Whether the provider still runs. */
	get providerRuns(): boolean {
		return allProcesses().some(
			({ pid, startTicks }) => pid === this.provider.pid && startTicks === this.provider.startTicks,
		);
	}

	killProvider(): void {
		process.kill(this.provider.pid, "SIGKILL");
	}

	/** Ends the CLI alone, and waits until the provider can know it. */
	async killCli(): Promise<void> {
		process.kill(this.cli.pid, "SIGKILL");
		await this.cli.ended;
		await until("the provider sees that the engine is gone", () => existsSync(`${this.file}.alone`), PATIENCE_MS);
	}

	/** Ctrl-C, to the CLI alone (the provider is in a process group of its own), once or twice in a row. */
	async interruptCli(times: 1 | 2): Promise<void> {
		process.kill(this.cli.pid, "SIGINT");
		await until("the CLI heeds Ctrl-C", () => /\^C received; cancelling/.test(this.cli.printed()), PATIENCE_MS);
		if (times === 1) return;
		process.kill(this.cli.pid, "SIGINT");
		await until("the provider gets SIGINT", () => existsSync(`${this.file}.interrupted`), PATIENCE_MS);
	}

	/** Lets the provider go on. */
	go(): void {
		writeFileSync(`${this.file}.go`, "");
	}

	async untilProviderEnds(): Promise<void> {
		await until(`the provider of the held ${this.command} ends`, () => !this.providerRuns, PATIENCE_MS);
	}
}
