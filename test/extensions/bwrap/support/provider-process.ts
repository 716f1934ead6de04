import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { SandboxerError } from "../../../../provider/errors";
import type { Answer, Jobs } from "./messages";
import type { Staged } from "./staged";
import type { User } from "./users";

/** In the environment of every provider process. */
export const CANARY_VARIABLE = "SANDBOXER_TEST_CANARY";
/** An open descriptor of every provider process, inherited and without close-on-exec. */
export const CANARY_DESCRIPTOR = 37;

export interface ProviderOptions {
	readonly staged: Staged;
	readonly user: User;
	readonly stateDir: string;
	readonly home: string;
	readonly path: string;
	/** Words that start the process: `script` for one with a terminal. */
	readonly launcher?: (command: readonly string[]) => readonly string[];
}

/** A process that runs the extension as a user, as the engine's provider process does. */
export class ProviderProcess {
	readonly #child: ChildProcess;
	readonly #waiting = new Map<number, { resolve: (gives: unknown) => void; reject: (error: Error) => void }>();
	#orders = 0;

	constructor({ staged, user, stateDir, home, path, launcher = (command) => command }: ProviderOptions) {
		const ids = [user.uid, user.uid].map(String);
		const become = user.uid === undefined ? [] : ["setpriv", "--reuid", ids[0], "--regid", ids[1], "--clear-groups"];
		const [program = "", ...words] = launcher([...(become as string[]), staged.node, staged.worker]);
		const descriptor = openSync("/dev/null", "r");
		const stdio = ["ignore", "inherit", "inherit", "ipc", ...Array<"ignore">(CANARY_DESCRIPTOR - 4).fill("ignore")];
		this.#child = spawn(program, words, {
			cwd: "/",
			env: { PATH: path, HOME: home, STATE_DIR: stateDir, [CANARY_VARIABLE]: "from the provider" },
			stdio: [...(stdio as "ignore"[]), descriptor],
		});
		closeSync(descriptor);
		this.#child.on("message", ({ number, gives, error }: Answer) => {
			const waiting = this.#waiting.get(number);
			this.#waiting.delete(number);
			if (error === undefined) waiting?.resolve(gives);
			else waiting?.reject(new SandboxerError(error));
		});
		const ended = (why: string) => {
			for (const { reject } of this.#waiting.values()) reject(new Error(`the provider process ended: ${why}`));
			this.#waiting.clear();
		};
		this.#child.once("exit", (code, signal) => ended(`${code ?? signal}`));
		this.#child.once("error", ({ message }) => ended(message));
	}

	get pid(): number {
		return this.#child.pid ?? 0;
	}

	get runs(): boolean {
		return this.#child.exitCode === null && this.#child.signalCode === null;
	}

	do<Job extends keyof Jobs>(job: Job, takes: Jobs[Job]["takes"]): Promise<Jobs[Job]["gives"]> {
		const number = ++this.#orders;
		return new Promise((resolve, reject) => {
			if (!this.runs) return reject(new Error("the provider process has ended"));
			this.#waiting.set(number, { resolve: resolve as (gives: unknown) => void, reject });
			this.#child.send({ number, job, takes });
		});
	}

	/** Ends it, softly by default, and waits for its end. */
	async end(signal?: "SIGKILL"): Promise<void> {
		if (!this.runs) return;
		const exit = once(this.#child, "exit");
		if (signal === undefined) this.#child.disconnect();
		else this.#child.kill(signal);
		await exit;
	}
}
