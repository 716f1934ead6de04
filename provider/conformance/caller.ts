import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { ProfileDocument } from "../documents/profile";
import { SandboxerError } from "../errors";
import type { ConformanceAdapter } from "./adapter";
import { CREDENTIAL_SETTING, DANGEROUS_ENVIRONMENT, QUIET_ENVIRONMENT } from "./canaries";
import {
	type Abilities,
	type Answer,
	type ExecuteOrder,
	type Jobs,
	type Order,
	SETUP_VARIABLE,
	type Setup,
} from "./messages";

const WORKER = join(__dirname, "worker.js");

/** An open descriptor of every calling process, inherited and without close-on-exec. */
const CANARY_DESCRIPTOR = 37;

/** The bound of a call where a case says nothing else, in seconds: enough for the slowest machine. */
const TIMEOUT_SECONDS = 120;

/** Takes a piece of output; a promise holds the command back. */
export type Watch = (stream: "stdout" | "stderr", chunk: Uint8Array) => void | Promise<void>;

/** A call that goes on. */
export interface Running<T> {
	readonly result: Promise<T>;
	abort(): void;
}

interface Waiting {
	resolve(gives: unknown): void;
	reject(error: Error): void;
	readonly watch: Watch | undefined;
}

/** A process that calls the extension. */
export class Caller {
	readonly #child: ChildProcess;
	readonly #waiting = new Map<number, Waiting>();
	#orders = 0;
	#printed = "";

	/** @param terminal - Words that give it a terminal, such as those of script(1). */
	constructor(
		adapter: ConformanceAdapter,
		terminal: (command: readonly string[]) => readonly string[] = (words) => words,
	) {
		const [program = "", ...words] = terminal(commandOf(adapter));
		const descriptor = openSync("/dev/null", "r");
		const unused = Array<"ignore">(CANARY_DESCRIPTOR - 4).fill("ignore");
		this.#child = spawn(program, words, {
			cwd: "/",
			env: environmentOf(adapter),
			// Standard input is open and silent: a command that inherited it would wait.
			stdio: ["pipe", "pipe", "inherit", "ipc", ...unused, descriptor],
			serialization: "advanced",
		});
		closeSync(descriptor);
		this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
			this.#printed = (this.#printed + text).slice(-65_536);
		});
		this.#child.on("message", (answer: Answer) => this.#hear(answer));
		const ended = (why: string) => {
			for (const { reject } of this.#waiting.values()) reject(new Error(`the calling process ended: ${why}`));
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

	/** What stands on its terminal, or its standard output. */
	get printed(): string {
		return this.#printed;
	}

	begin<Job extends keyof Jobs>(
		job: Job,
		takes: Jobs[Job]["takes"],
		timeoutSeconds = TIMEOUT_SECONDS,
		watch?: Watch,
	): Running<Jobs[Job]["gives"]> {
		const number = ++this.#orders;
		const result = new Promise<Jobs[Job]["gives"]>((resolve, reject) => {
			if (!this.runs) return reject(new Error("the calling process has ended"));
			this.#waiting.set(number, { resolve: resolve as (gives: unknown) => void, reject, watch });
			this.#send({ number, job, takes, timeoutSeconds });
		});
		result.catch(() => undefined);
		return { result, abort: () => this.#send({ abort: number }) };
	}

	do<Job extends keyof Jobs>(
		job: Job,
		takes: Jobs[Job]["takes"],
		timeoutSeconds?: number,
	): Promise<Jobs[Job]["gives"]> {
		return this.begin(job, takes, timeoutSeconds).result;
	}

	execute(takes: Jobs["execute"]["takes"], watch?: Watch): Running<Jobs["execute"]["gives"]> {
		const options: ExecuteOrder = { ...takes.options, ...(watch === undefined ? {} : { watched: true }) };
		return this.begin("execute", { ...takes, options }, TIMEOUT_SECONDS, watch);
	}

	/** Ends it, softly by default, and waits for its end. */
	async end(signal?: "SIGKILL"): Promise<void> {
		if (!this.runs) return;
		const exit = once(this.#child, "exit");
		if (signal !== undefined) this.#child.kill(signal);
		else if (this.#child.connected) this.#child.disconnect();
		await exit;
	}

	#send(order: Order): void {
		if (this.#child.connected) this.#child.send(order);
	}

	#hear(answer: Answer): void {
		const waiting = this.#waiting.get(answer.number);
		if (waiting === undefined) return;
		if ("piece" in answer) {
			const taken = () => this.#send({ taken: answer.piece });
			void Promise.resolve(waiting.watch?.(answer.stream, answer.chunk)).then(taken);
			return;
		}
		this.#waiting.delete(answer.number);
		if ("error" in answer) waiting.reject(new SandboxerError(answer.error));
		else waiting.resolve(answer.gives);
	}
}

/** What the extension says of itself, and of a profile, offline. */
export function abilitiesOf(adapter: ConformanceAdapter, profile: ProfileDocument = adapter.profile): Abilities {
	const [program = "", ...words] = commandOf(adapter);
	const { stdout, stderr, error } = spawnSync(program, [...words, JSON.stringify(profile)], {
		cwd: "/",
		env: environmentOf(adapter),
		encoding: "utf8",
	});
	if (stdout === "" || stdout === null)
		throw new Error(`The extension of ${adapter.name} could not be opened: ${error?.message ?? stderr}`);
	return JSON.parse(stdout) as Abilities;
}

function commandOf({ launch = (command) => command }: ConformanceAdapter): readonly string[] {
	return launch([process.execPath, WORKER]);
}

function environmentOf({ declaration, handler, config = {}, environment }: ConformanceAdapter): Record<string, string> {
	const setup: Setup = {
		declaration,
		handler,
		config,
		environment: DANGEROUS_ENVIRONMENT,
		credentials: CREDENTIAL_SETTING,
	};
	const { PATH = "/usr/bin:/bin", HOME = "/" } = process.env;
	return { ...QUIET_ENVIRONMENT, PATH, HOME, ...environment, [SETUP_VARIABLE]: JSON.stringify(setup) };
}
