/** A process that calls an extension, as the engine's provider process does, told what to do by its parent. */
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type Call, type ExecuteOptions, type ExtensionHost, SandboxExtension } from "../contract";
import { credentialSource } from "../credentials";
import { profileSchema } from "../documents/profile";
import { SandboxerError } from "../errors";
import type { Abilities, Answer, ExecuteOrder, Jobs, Order, Setup, StdinOrder, Wish } from "./messages";
import { SETUP_VARIABLE } from "./messages";

const setup = JSON.parse(process.env[SETUP_VARIABLE] ?? "") as Setup;
delete process.env[SETUP_VARIABLE];
let heldClock: number | undefined;

const host: ExtensionHost = {
	declaration: setup.declaration,
	config: { ...setup.declaration.config, ...setup.config },
	environment: (name) => process.env[name],
	credentials: credentialSource(
		(key) => (key === "credentials" ? setup.credentials : undefined),
		(name) => process.env[name],
	),
	now: () => heldClock ?? Date.now(),
};

function open(): SandboxExtension {
	const [, className = ""] = setup.declaration.handler.split(":");
	const module = createRequire(setup.handler)(setup.handler) as Record<
		string,
		new (
			host: ExtensionHost,
		) => SandboxExtension
	>;
	const Handler = module[className];
	if (Handler === undefined) throw new Error(`${setup.handler} exports no ${className}.`);
	return new Handler(host);
}

const extension = open();
Object.assign(process.env, setup.environment);

const placed = ({ profile, inputs, host: where, ...request }: Wish, call: Call) =>
	[profile, inputs, where, { ...request, ...call }] as const;

const jobs: {
	[Job in keyof Jobs]: (takes: Jobs[Job]["takes"], call: Call, number: number) => Promise<Jobs[Job]["gives"]>;
} = {
	provision: (wish, call) => extension.provision(...placed(wish, call)),
	waitReady: (handle, call) => extension.waitReady(handle, call),
	teardown: (handle, call) => extension.teardown(handle, call),
	locate: (query, call) => extension.locate(query, call),
	claim: ({ handle, attribution }, call) => extension.claim(handle, attribution, call),
	extendLease: ({ handle, expiresAt, terms }, call) =>
		extension.extendLease(handle, expiresAt, terms === undefined ? call : { ...call, terms }),
	expire: (handle, call) => extension.expire(handle, call),
	inventory: (_none, call) => extension.inventory(call),
	snapshot: ({ handle, request }, call) => extension.snapshot(handle, { ...request, ...call }),
	snapshots: (query, call) => extension.snapshots(query, call),
	removeSnapshot: (snapshot, call) => extension.removeSnapshot(snapshot, call),
	restoreFromSnapshot: ({ snapshot, ...wish }, call) => {
		const [profile, inputs, where, request] = placed(wish, call);
		return extension.restoreFromSnapshot(profile, snapshot, inputs, where, request);
	},
	execute: ({ handle, command, options }, call, number) =>
		extension.execute(handle, command, executeOptions(options, number), call),
	clock: async (time) => {
		heldClock = time;
		return true;
	},
	dieAt: async (checkpoint) => {
		const hook = async (name: string) => {
			if (name === checkpoint) process.kill(process.pid, "SIGKILL");
		};
		Object.assign(globalThis, { [Symbol.for("pulumi-sandboxer.checkpoint")]: hook });
		return true;
	},
	memory: async () => process.resourceUsage().maxRSS * 1024,
};

let pieces = 0;
const sent = new Map<number, () => void>();

function executeOptions(
	{ watched = false, executionContext, ...options }: ExecuteOrder,
	number: number,
): ExecuteOptions {
	const { stdin, ...context } = executionContext ?? {};
	return {
		...options,
		...(executionContext === undefined ? {} : { executionContext: { ...context, ...stdinOf(stdin) } }),
		...(watched
			? {
					onOutput: (stream: "stdout" | "stderr", chunk: Uint8Array) => {
						const piece = ++pieces;
						say({ number, piece, stream, chunk });
						return new Promise<void>((resolve) => sent.set(piece, resolve));
					},
				}
			: {}),
	};
}

function stdinOf(order: StdinOrder | undefined): { stdin?: string | Uint8Array | Readable } {
	if (order === undefined) return {};
	if (typeof order === "string" || order instanceof Uint8Array) return { stdin: order };
	return { stdin: Readable.from(order.stream === "zeros" ? zeros(order.bytes) : neverEnding(), { objectMode: false }) };
}

function* zeros(bytes: number): Generator<Buffer> {
	const piece = Buffer.alloc(65536);
	for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, left);
}

async function* neverEnding(): AsyncGenerator<Buffer> {
	for (;;) {
		yield Buffer.from("more\n");
		await delay(20, undefined, { ref: false });
	}
}

function say(answer: Answer): void {
	process.send?.(answer);
}

const running = new Map<number, AbortController>();

async function answer(number: number, job: keyof Jobs, takes: unknown, timeoutSeconds: number): Promise<Answer> {
	const controller = new AbortController();
	running.set(number, controller);
	const call: Call = { signal: controller.signal, timeoutSeconds, progress: () => undefined };
	try {
		return { number, gives: await (jobs[job] as (...words: unknown[]) => Promise<unknown>)(takes, call, number) };
	} catch (thrown) {
		const { code, message, hint, details } = SandboxerError.from(thrown);
		return { number, error: { code, message, ...(hint === undefined ? {} : { hint }), details } };
	} finally {
		running.delete(number);
	}
}

const OPTIONAL = ["locate", "claim", "expire", "inventory"] as const;

function abilities(profile: unknown): Abilities {
	return {
		execution: extension.supportsExecution(),
		snapshots: extension.supportsSnapshots(),
		leaseExtension: extension.supportsLeaseExtension(),
		implements: OPTIONAL.filter((method) => extension[method] !== SandboxExtension.prototype[method]),
		problems: extension.problems(profileSchema.parse(profile), {}),
	};
}

const [, , asked] = process.argv;
if (asked !== undefined) {
	process.stdout.write(JSON.stringify(abilities(JSON.parse(asked))));
} else {
	process.on("message", (order: Order) => {
		if ("abort" in order) running.get(order.abort)?.abort();
		else if ("taken" in order) {
			sent.get(order.taken)?.();
			sent.delete(order.taken);
		} else void answer(order.number, order.job, order.takes, order.timeoutSeconds).then(say);
	});
	process.on("disconnect", () => {
		for (const controller of running.values()) controller.abort();
		process.exit();
	});
}
