import {
	type Attribution,
	checkpoint,
	type Handle,
	isSameOwner,
	type ProvisionRequest,
	type SandboxExtension,
} from "../contract";
import { SandboxerError } from "../errors";
import { durationSeconds } from "../lease/duration";
import { leaseSeconds } from "../lease/lease-seconds";
import { type Backend, callOf, cleanupCall, DEFAULT_TIMEOUT_SECONDS } from "./backend";
import { effectiveProfile, type SandboxInputs } from "./inputs";
import { readyOutputs, type SandboxOutputs, waitingOutputs } from "./outputs";
import { assertRemoved } from "./remove";
import { replacingDigest } from "./replacing";

/** The sandbox is there, but the wait for it failed: it belongs into the state, so that destroy removes it. */
export class NotReady extends Error {
	override readonly name = "NotReady";
	constructor(
		readonly outputs: SandboxOutputs,
		override readonly cause: SandboxerError,
	) {
		super(cause.message);
	}
}

/** Where a sandbox of an extension that has no hosts is made. */
const THIS_MACHINE = "local";

/**
 * Makes a sandbox, or adopts the one an earlier run made, and waits until it can be used.
 *
 * @param how.resumes - The handle in the state, where an earlier wait failed.
 * @param how.anew - One that is there already is refused, not adopted.
 */
export async function create(
	backend: Backend,
	inputs: SandboxInputs,
	{ resumes, anew = false }: { readonly resumes?: Handle; readonly anew?: boolean } = {},
): Promise<SandboxOutputs> {
	await checkpoint("create:start");
	const request = { ...requestOf(backend, inputs), ...(resumes === undefined ? {} : { resumes }) };
	if (inputs.adopt) await takeOver(backend, inputs, request);
	backend.progress("provisioning");
	const { handle, adopted } = await provision(backend, inputs, request);
	if (adopted && anew) throw thereAlready(inputs);
	await checkpoint("create:provisioned");
	const outputs = await finish(backend, inputs, request, handle, adopted);
	await checkpoint("create:ready");
	if (backend.signal.aborted && !adopted) throw await removed(backend, inputs, outputs.handle, unrecorded(inputs));
	return outputs;
}

function unrecorded({ sandboxId }: SandboxInputs): SandboxerError {
	return new SandboxerError({
		code: "aborted",
		message: `The engine went away before it could record sandbox ${sandboxId}: it does not stay.`,
		details: { sandbox_id: sandboxId },
	});
}

function thereAlready({ sandboxId, restoreFrom }: SandboxInputs): SandboxerError {
	return new SandboxerError({
		code: "conflict",
		message: `Sandbox ${sandboxId} was ${restoreFrom === undefined ? "made" : "restored"} before: it was not touched.`,
		hint: "Choose another name.",
		details: { sandbox_id: sandboxId },
	});
}

async function provision(backend: Backend, inputs: SandboxInputs, request: ProvisionRequest) {
	try {
		const { handle, adopted } = await provisionedBy(backend, inputs, request);
		// Whoever reads it from an output must know whom to ask.
		return { handle: { ...handle, extension: inputs.extension }, adopted };
	} catch (thrown) {
		const error = SandboxerError.from(thrown);
		const leftover = error.details.leftover as Handle | undefined;
		if (leftover === undefined) throw error;
		throw new NotReady(waitingOutputs(inputs, leftover), error);
	}
}

function provisionedBy(
	{ extension }: Backend,
	inputs: SandboxInputs,
	request: ProvisionRequest,
): ReturnType<SandboxExtension["provision"]> {
	const profile = effectiveProfile(inputs);
	const { restoreFrom, inputs: given } = inputs;
	if (restoreFrom === undefined) return extension.provision(profile, given, THIS_MACHINE, request);
	return extension.restoreFromSnapshot(profile, restoreFrom, given, THIS_MACHINE, request);
}

/** Waits; what cannot be handed out is removed, what may still come up is kept. */
async function finish(
	backend: Backend,
	inputs: SandboxInputs,
	request: ProvisionRequest,
	handle: Handle,
	adopted: boolean,
): Promise<SandboxOutputs> {
	backend.progress("waiting until it is ready");
	try {
		return readyOutputs(inputs, handle, await backend.extension.waitReady(handle, request));
	} catch (thrown) {
		const error = SandboxerError.from(thrown);
		const hopeless = error.code === "control" || error.code === "aborted" || error.code === "gone";
		if (!hopeless || adopted) throw new NotReady(waitingOutputs(inputs, handle), error);
		throw await removed(backend, inputs, handle, error);
	}
}

/** @returns The first error, which is all there is to tell where nothing is left; else with what the clean-up failed of. */
async function removed(backend: Backend, inputs: SandboxInputs, handle: Handle, first: SandboxerError): Promise<Error> {
	try {
		assertRemoved(
			inputs.sandboxId,
			await backend.extension.teardown(handle, cleanupCall(backend, DEFAULT_TIMEOUT_SECONDS)),
		);
		return first;
	} catch (thrown) {
		const hint = `${first.hint ?? ""} Then the clean-up failed too: ${SandboxerError.from(thrown).text}`.trim();
		return new NotReady(
			waitingOutputs(inputs, handle),
			new SandboxerError({ code: first.code, message: first.message, hint, details: first.details, cause: first }),
		);
	}
}

/** `adopt: true`: the sandbox of that id, if there is one and it is somebody else's, becomes this resource's. */
async function takeOver(backend: Backend, inputs: SandboxInputs, request: ProvisionRequest): Promise<void> {
	const [found] = await backend.extension.locate({ sandboxId: inputs.sandboxId }, request);
	if (found === undefined) return;
	if (isSameOwner(found.owner, inputs.owner)) return;
	if (found.digest !== request.digest) {
		throw new SandboxerError({
			code: "conflict",
			message: `Sandbox ${inputs.sandboxId} of ${found.owner.urn} (stack ${found.owner.stack}) cannot be adopted: it was made with other settings.`,
			hint: "It was not touched. Give this resource the same profile, network, resources and inputs, or another sandboxId.",
			details: { sandbox_id: inputs.sandboxId, owner: found.owner },
		});
	}
	backend.info(`taking over sandbox ${inputs.sandboxId} from ${found.owner.urn}`);
	await backend.extension.claim(found.handle, attributionOf(inputs), request);
}

export function attributionOf(inputs: Pick<SandboxInputs, "owner" | "labels" | "consumer">): Attribution {
	return {
		owner: inputs.owner,
		labels: inputs.labels,
		...(inputs.consumer === undefined ? {} : { consumer: inputs.consumer }),
	};
}

export function requestOf(backend: Backend, inputs: SandboxInputs): ProvisionRequest {
	const { create: limit } = inputs.timeouts;
	return {
		...callOf(backend, (limit === undefined ? undefined : durationSeconds(limit)) ?? DEFAULT_TIMEOUT_SECONDS),
		sandboxId: inputs.sandboxId,
		digest: replacingDigest(inputs),
		ttlSeconds: leaseSeconds(inputs.ttl, inputs.profile.ttl).seconds,
		...attributionOf(inputs),
	};
}
