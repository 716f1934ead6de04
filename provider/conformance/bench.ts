import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Attribution, ExecutionResult, Handle, Located, Owner, Provisioned, SnapshotMeta } from "../contract";
import { type ProfileDocument, profileSchema } from "../documents/profile";
import { hasCode } from "../errors";
import type { ConformanceAdapter } from "./adapter";
import { Caller, type Running, type Watch } from "./caller";
import type { ExecuteOrder, Jobs, Wish } from "./messages";
import { declaringProfile, limitedProfile } from "./profiles";

/** How long what was ended may take to be gone. */
const GONE_SECONDS = 10;
/** What a sandbox keeps doing by itself takes less. */
const PASSING_MS = 50;

/** Whose the kit's sandboxes are. */
export const OWNER: Owner = {
	scope: "conformance",
	project: "kit",
	stack: "one",
	urn: "urn:pulumi:one::kit::sandboxer:index:Sandbox::box",
};

/** Somebody else. */
export const STRANGER: Attribution = {
	owner: { ...OWNER, stack: "two", urn: "urn:pulumi:two::kit::sandboxer:index:Sandbox::box" },
	labels: { team: "two" },
};

/** What a case works with: sandboxes, and processes that call the extension. */
export class Bench {
	readonly #callers: Caller[] = [];
	readonly #handles: Handle[] = [];
	readonly #snapshots: SnapshotMeta[] = [];
	#shared: Promise<Handle> | undefined;
	#limited: Promise<Handle> | undefined;

	constructor(readonly adapter: ConformanceAdapter) {}

	/** A process that calls the extension; one that is there already, by default. */
	get caller(): Caller {
		return this.#callers.find(({ runs }) => runs) ?? this.newCaller();
	}

	newCaller(terminal?: ConstructorParameters<typeof Caller>[1]): Caller {
		const caller = new Caller(this.adapter, terminal);
		this.#callers.push(caller);
		return caller;
	}

	/** @param time - Where the caller's clock is held, in milliseconds since 1970. */
	async withClock(time: number, work: (caller: Caller) => Promise<void>): Promise<void> {
		const caller = this.newCaller();
		await caller.do("clock", time);
		try {
			await work(caller);
		} finally {
			await caller.end("SIGKILL");
		}
	}

	wish(changes: Partial<Wish> = {}, profile: Partial<ProfileDocument> = {}): Wish {
		const { adapter } = this;
		return {
			sandboxId: `kit-${randomBytes(5).toString("hex")}`,
			owner: OWNER,
			digest: "digest-1",
			ttlSeconds: 3600,
			labels: { kit: "yes" },
			profile: profileSchema.parse({ ...declaringProfile(adapter), ...profile }),
			inputs: adapter.inputs ?? {},
			host: adapter.host ?? "local",
			...changes,
		};
	}

	/** Asks for a sandbox, by default one of the case's own; it is removed in the end. */
	async provision(wish: Wish = this.wish(), caller = this.caller): Promise<Provisioned> {
		const provisioned = await caller.do("provision", wish);
		this.#handles.push(provisioned.handle);
		return provisioned;
	}

	/** Restores a snapshot, by default as a sandbox of the case's own; it is removed in the end. */
	async restore(snapshot: SnapshotMeta, wish: Wish = this.wish()): Promise<Provisioned> {
		const provisioned = await this.caller.do("restoreFromSnapshot", { ...wish, snapshot });
		this.#handles.push(provisioned.handle);
		return provisioned;
	}

	/** Has a snapshot removed in the end. */
	keep(snapshot: SnapshotMeta): SnapshotMeta {
		this.#snapshots.push(snapshot);
		return snapshot;
	}

	located(query: Jobs["locate"]["takes"]): Promise<readonly Located[]> {
		return this.caller.do("locate", query);
	}

	/** That there is one sandbox of an id, which is that of the handle. */
	async isAlone(sandboxId: string, handle: Handle): Promise<void> {
		const found = (await this.#located(sandboxId)).map((one) => one.generation);
		if (found.some((generation) => generation !== handle.generation) || found.length > 1)
			throw new Error(`Sandbox ${sandboxId} is there more than once, or in another life: ${found.join()}.`);
	}

	/** What can be said of a sandbox before its handle is known; enough to look for its traces. */
	named({ sandboxId, host }: Wish): Handle {
		return { extension: this.adapter.declaration.id, sandbox_id: sandboxId, host, generation: 0 };
	}

	/** A sandbox of the case's own, ready. */
	async make(wish: Wish = this.wish(), caller = this.caller): Promise<Handle> {
		const { handle } = await this.provision(wish, caller);
		await caller.do("waitReady", handle);
		return handle;
	}

	/** The sandbox that cases share which leave it as it was. */
	box(): Promise<Handle> {
		this.#shared ??= this.make();
		return this.#shared;
	}

	/** A sandbox with a memory limit, for cases that fill it. */
	limited(): Promise<Handle> {
		this.#limited ??= this.make(this.wish({}, limitedProfile(this.adapter)));
		return this.#limited;
	}

	/** Begins a command, by default in the shared sandbox. */
	async begin(
		command: readonly string[],
		options: ExecuteOrder = {},
		watch?: Watch,
		handle?: Handle,
	): Promise<Running<ExecutionResult>> {
		return this.caller.execute({ handle: handle ?? (await this.box()), command, options }, watch);
	}

	async execute(command: readonly string[], options: ExecuteOrder = {}, handle?: Handle): Promise<ExecutionResult> {
		return (await this.begin(command, options, undefined, handle)).result;
	}

	/** What a shell script in the shared sandbox printed; it is to end well. */
	async sh(script: string, options: ExecuteOrder = {}, handle?: Handle): Promise<string> {
		const { exitCode, stdout, stderr } = await this.execute(["sh", "-c", script], options, handle);
		if (exitCode !== 0) throw new Error(`${script} ended with ${exitCode}: ${stderr.text}`);
		return stdout.text;
	}

	traces(handle: Handle): Promise<readonly string[]> {
		return Promise.resolve(this.adapter.traces?.(handle) ?? []);
	}

	/** The same in one text, when two looks in a row agree: without what comes and goes by itself. */
	async settledTraces(handle: Handle): Promise<string> {
		let traces = shown(await this.traces(handle));
		await until("what there is of it stays the same", async () => {
			const before = traces;
			await delay(PASSING_MS);
			traces = shown(await this.traces(handle));
			return traces === before ? undefined : traces;
		});
		return traces;
	}

	/** That there is of a sandbox what was there before, no more and no less, as soon as all that was ended is gone. */
	async isAsBefore(handle: Handle, before: string): Promise<void> {
		await until(`there is of it what was there before: ${before}`, async () => {
			const traces = shown(await this.traces(handle));
			return traces === before ? undefined : traces;
		});
	}

	/** Begins a shell script in a sandbox; when this resolves it has printed something, so it runs. */
	async running(script: string, handle: Handle, caller = this.caller): Promise<Running<ExecutionResult>> {
		let printed: () => void = () => undefined;
		const hasPrinted = new Promise<void>((resolve) => {
			printed = resolve;
		});
		const running = caller.execute({ handle, command: ["sh", "-c", script], options: {} }, printed);
		await Promise.race([hasPrinted, running.result]);
		return running;
	}

	/** Runs something that is to leave nothing running in a sandbox beside what ran before. */
	async leavesNothing<T>(work: () => Promise<T>, handle?: Handle): Promise<T> {
		const box = handle ?? (await this.box());
		const before = new Set(await this.traces(box));
		const result = await work();
		await until("nothing is left of the command", async () => {
			const left = (await this.traces(box)).filter((trace) => !before.has(trace));
			return left.length === 0 ? undefined : left.join("; ");
		});
		return result;
	}

	/** Removes what the cases made; what could not be removed is told. */
	async dispose(): Promise<readonly string[]> {
		const trouble: string[] = [];
		for (const snapshot of this.#snapshots) {
			try {
				trouble.push(...(await this.caller.do("removeSnapshot", snapshot)).remains);
			} catch (thrown) {
				trouble.push(String(thrown));
			}
		}
		for (const handle of this.#handles) {
			try {
				trouble.push(...(await this.caller.do("teardown", handle)).remains);
				for (const located of await this.#located(handle.sandbox_id))
					trouble.push(...(await this.caller.do("teardown", located)).remains);
				trouble.push(...(await this.traces(handle)));
			} catch (thrown) {
				trouble.push(String(thrown));
			}
		}
		await Promise.all(this.#callers.map((caller) => caller.end()));
		return trouble;
	}

	/** Ends the calling processes, and leaves everything else as it is. */
	async abandon(): Promise<void> {
		await Promise.all(this.#callers.map((caller) => caller.end("SIGKILL")));
	}

	/** What is there under an id, whoever holds it. */
	async #located(sandboxId: string): Promise<readonly Handle[]> {
		try {
			return (await this.caller.do("locate", { sandboxId })).map(({ handle }) => handle);
		} catch (thrown) {
			if (hasCode(thrown, "unsupported")) return [];
			throw thrown;
		}
	}
}

function shown(traces: readonly string[]): string {
	return traces.toSorted().join("; ");
}

/** Waits until nothing is in the way; says what is, when the time is up. */
export async function until(
	what: string,
	inTheWay: () => Promise<string | undefined>,
	seconds = GONE_SECONDS,
): Promise<void> {
	const deadline = performance.now() + seconds * 1000;
	for (;;) {
		const why = await inTheWay();
		if (why === undefined) return;
		if (performance.now() > deadline) throw new Error(`After ${seconds} s this does not hold: ${what} (${why}).`);
		await delay(20);
	}
}
