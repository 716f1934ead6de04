import { ownCommand } from "../entry/enter";
import { type EntryOptions, EntryProcess } from "../entry/entry-process";
import { PROBE } from "./probe";

/** How long one waits for whoever wanted it, in milliseconds: `waitReady` follows `provision` at once. */
const KEPT_MS = 2_000;

/**
 * Probes on their way into sandboxes that are being made: an entry takes as long as bwrap's own start. They get no
 * further than the gate, so that nothing is looked at before the probe is taken.
 */
export class StartedProbes {
	readonly #started = new Map<string, Promise<EntryProcess | undefined>>();

	/** Where it fails, there is none to take: the one that is started then says why. */
	start(directory: string, options: Omit<EntryOptions, "command">): void {
		const starting = EntryProcess.start({ ...options, command: ownCommand(PROBE) }).catch(() => undefined);
		this.#started.set(directory, starting);
		setTimeout(() => {
			if (this.#started.get(directory) === starting) void this.drop(directory);
		}, KEPT_MS).unref();
	}

	/** Sends the one of a sandbox to its first process. */
	async follow(directory: string, pid: number): Promise<void> {
		(await this.#started.get(directory))?.follow(pid);
	}

	/** The one of a sandbox, which is the taker's from here on. */
	async take(directory: string): Promise<EntryProcess | undefined> {
		const started = this.#started.get(directory);
		this.#started.delete(directory);
		return started;
	}

	/** Ends the one of a sandbox, if it was not taken. */
	async drop(directory: string): Promise<void> {
		await (await this.take(directory))?.discard();
	}
}
