import assert from "node:assert/strict";
import type { Handle } from "../contract";
import { SandboxerError } from "../errors";
import { type Bench, OWNER } from "./bench";
import type { Case, Need } from "./case";
import { same } from "./judgement";
import type { Jobs } from "./messages";

/** Keys that every handle has. */
const COMMON = ["extension", "sandbox_id", "host", "generation"] as const;

/** What somebody may have made of a field in a state. */
function forgeries(value: unknown): unknown[] {
	if (typeof value === "number") return [value + 1, value - 1, 0, -1, 1, 1.5, String(value), null, undefined];
	if (typeof value === "boolean") return [!value, undefined];
	if (typeof value !== "string") return [null, undefined, "", 0];
	return [
		`${value}x`,
		value.slice(0, -1),
		"",
		"/",
		"..",
		`../${value}`,
		`${value}/..`,
		"-x",
		`${value}\n`,
		0,
		null,
		undefined,
	];
}

interface Method {
	readonly name: string;
	readonly needs?: readonly Need[];
	call(bench: Bench, handle: Handle): Promise<unknown>;
}

const call =
	<Job extends keyof Jobs>(job: Job, takes: (handle: Handle) => Jobs[Job]["takes"]) =>
	(bench: Bench, handle: Handle) =>
		bench.caller.do(job, takes(handle));

const later = () => new Date(Date.now() + 3_600_000).toISOString();

/** Methods that must refuse a handle which is not of the live sandbox and its holder. */
const METHODS: readonly Method[] = [
	{
		name: "execute",
		needs: ["execution"],
		call: call("execute", (handle) => ({ handle, command: ["touch", "/workspace/forged"], options: {} })),
	},
	{ name: "waitReady", call: call("waitReady", (handle) => handle) },
	{
		name: "claim",
		needs: ["claim"],
		call: call("claim", (handle) => ({ handle, attribution: { owner: { ...OWNER, stack: "forger" }, labels: {} } })),
	},
	{ name: "extendLease", needs: ["leases"], call: call("extendLease", (handle) => ({ handle, expiresAt: later() })) },
	{
		name: "snapshot",
		needs: ["snapshots"],
		call: call("snapshot", (handle) => ({ handle, request: { snapshotId: "forged", labels: {} } })),
	},
];

/** Fields in which handles of this sandbox could be forged; what only names its present process is execute's alone. */
function fieldsOf(bench: Bench, handle: Handle, { name }: Method): string[] {
	const { incidental = [] } = bench.adapter;
	return [...new Set([...COMMON, ...Object.keys(handle)])].filter(
		(key) => name === "execute" || !incidental.includes(key),
	);
}

async function eachForgery(
	bench: Bench,
	method: Method,
	judge: (forged: Handle, what: string) => Promise<void>,
): Promise<void> {
	const handle = await bench.box();
	for (const field of fieldsOf(bench, handle, method)) {
		for (const value of forgeries(handle[field]).filter((forged) => forged !== handle[field])) {
			const { [field]: _real, ...rest } = handle;
			const forged = (value === undefined ? rest : { ...rest, [field]: value }) as Handle;
			await judge(
				forged,
				`${method.name} with ${field} ${JSON.stringify(value)} instead of ${JSON.stringify(handle[field])}`,
			);
		}
	}
}

async function isUntouched(bench: Bench, before: string): Promise<void> {
	const handle = await bench.box();
	await bench.caller.do("waitReady", handle);
	await bench.isAsBefore(handle, before);
}

export const HANDLES: readonly Case[] = [
	...METHODS.map((method): Case => {
		const { name, needs = [] } = method;
		return {
			name: `${name} refuses a handle in which any field is another, names the sandbox, and touches nothing`,
			needs,
			run: async (bench) => {
				const handle = await bench.box();
				const before = await bench.settledTraces(handle);
				await eachForgery(bench, method, async (forged, what) => {
					const outcome = await method.call(bench, forged).then(
						(value) => ({ value }),
						(error: unknown) => ({ error }),
					);
					assert.ok("error" in outcome, `${what} was accepted`);
					const { error } = outcome;
					assert.ok(error instanceof SandboxerError, String(error));
					assert.ok(
						["conflict", "gone", "unknown", "invalid", "remains"].includes(error.code),
						`${what}: ${error.code}: ${error.text}`,
					);
					const ids = [handle.sandbox_id, String(forged.sandbox_id)];
					assert.ok(
						ids.some((id) => error.text.includes(id)),
						`${what} does not name the sandbox: ${error.text}`,
					);
				});
				await isUntouched(bench, before);
				if (name === "execute") assert.equal(await bench.sh("ls /workspace/forged 2>/dev/null || :"), "");
			},
		};
	}),
	{
		name: "teardown refuses, or does nothing with, a handle in which any field is another",
		run: async (bench) => {
			const before = await bench.settledTraces(await bench.box());
			const method: Method = { name: "teardown", call: call("teardown", (handle) => handle) };
			await eachForgery(bench, method, async (forged, what) => {
				const outcome = await method.call(bench, forged).catch((error: unknown) => error);
				if (outcome instanceof SandboxerError) assert.ok(outcome.code !== "internal", `${what}: ${outcome.text}`);
				else same(outcome, { found: [], removed: [], remains: [] });
			});
			await isUntouched(bench, before);
		},
	},
];
