import { randomBytes } from "node:crypto";
import type { SandboxExtension, SnapshotMeta } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { type Backend, create, NotReady, type SandboxOutputs } from "../../provider/lifecycle";
import { defineCommand, type Invocation } from "../command-line/command";
import { duration } from "../command-line/duration";
import { UsageError } from "../command-line/usage-error";
import { facts } from "../output/table";
import { moment } from "../output/times";
import { bind, boundInputs, inputsOf, pairs } from "../place/binding";
import { WHERE } from "../place/options";
import { Place } from "../place/place";
import { snapshotOf } from "../place/snapshots";

export const restore = defineCommand({
	name: "restore",
	summary: "Makes a new sandbox whose workspace comes out of a snapshot",
	about:
		"The sandbox belongs to the command line, in no stack: its lease ends it, or `sandboxer remove`. The snapshot stays.",
	arguments: [{ name: "SNAPSHOT_ID" }],
	options: {
		...WHERE,
		profile: {
			type: "string",
			short: "p",
			value: "PROFILE",
			about: "What is made: a profile's name or path",
			complete: "profiles",
		},
		name: { type: "string", value: "ID", about: "Its sandbox id (default: the source's and a random end)" },
		ttl: { type: "string", value: "DURATION", about: "Its lease (default: the profile's)" },
		label: { type: "string", multiple: true, value: "KEY=VALUE", about: "A label of it" },
		input: { type: "string", multiple: true, value: "KEY=VALUE", about: "An input of the extension" },
		timeout: { type: "string", value: "DURATION", about: "How long it may take (default: 30m)" },
	},
	examples: [
		["sandboxer restore box-20261001t120000 --profile bwrap-local --name box-again", "a new sandbox, ready to use"],
	],
	async run({ words: [id = ""], values, now, ...invocation }) {
		const { profile, ttl, label, input, timeout = "30m" } = values;
		if (profile === undefined)
			throw new UsageError("sandboxer restore needs --profile.", "Such as --profile bwrap-local.");
		duration("timeout", timeout);
		const place = await Place.of({ values, ...invocation });
		const { meta, extension: keeper } = await snapshotOf(place, id);
		const sandboxId = values.name ?? `${meta.sandbox_id.slice(0, 54)}-${randomBytes(4).toString("hex")}`;
		const wish = { profile, sandboxId, ttl, inputs: inputsOf(input), labels: pairs("label", label) };
		const binding = bind(place, wish);
		assertSameExtension(meta, keeper, binding.extension);
		const inputs = { ...boundInputs(binding), restoreFrom: meta, timeouts: { create: timeout } };
		const outputs = await made(backendOf(binding.extension, { now, ...invocation }), inputs);
		return { document: document(outputs), text: sheet(outputs, now()) };
	},
});

async function made(backend: Backend, inputs: Parameters<typeof create>[1]): Promise<SandboxOutputs> {
	try {
		return await create(backend, inputs, { anew: true });
	} catch (thrown) {
		if (!(thrown instanceof NotReady)) throw thrown;
		const { code, message, hint, details } = thrown.cause;
		const out = `It is there, but not ready: sandboxer remove ${inputs.sandboxId} removes it.`;
		throw new SandboxerError({
			code,
			message,
			hint: hint === undefined ? out : `${hint} ${out}`,
			details,
			cause: thrown,
		});
	}
}

/** An archive is told by whoever keeps it; another extension does not have it. */
function assertSameExtension(meta: SnapshotMeta, keeper: SandboxExtension, chosen: SandboxExtension): void {
	if (keeper.declaration.id === chosen.declaration.id) return;
	throw new SandboxerError({
		code: "unsupported",
		message: `Snapshot ${meta.snapshot_id} is kept by ${keeper.declaration.id}; the profile is of ${chosen.declaration.id}, which does not have it.`,
		hint: `Take a profile of ${keeper.declaration.id}.`,
	});
}

function backendOf(
	extension: SandboxExtension,
	{ signal, now, streams, json }: Omit<Invocation, "values" | "words">,
): Backend {
	const say = (message: string) => {
		if (!json && streams.stderr.isTTY === true) streams.stderr.write(`${message}\n`);
	};
	return { extension, signal, now, progress: say, info: say, warn: say };
}

function document(outputs: SandboxOutputs) {
	const { sandboxId, extension, handle, reachability, workspaceDir, lease, controls, owner, labels } = outputs;
	return { sandboxId, extension, handle, reachability, workspaceDir, lease, controls, owner, labels };
}

function sheet({ sandboxId, extension, workspaceDir, lease }: SandboxOutputs, now: number): string {
	return facts({ sandbox: sandboxId, extension, workspace: workspaceDir, ends: moment(lease?.expiresAt, now) });
}
