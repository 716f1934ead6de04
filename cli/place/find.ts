import { findHandle } from "../../provider/client";
import type { Handle, Located, SandboxExtension } from "../../provider/contract";
import { sandboxIdSchema } from "../../provider/documents/words";
import { hasCode, SandboxerError } from "../../provider/errors";
import type { Streams } from "../command-line/command";
import { UsageError } from "../command-line/usage-error";
import { LOOK_SECONDS, type Place } from "./place";
import type { StackSandbox } from "./pulumi";

/** A sandbox that was found, in a state or on a backend. */
export interface Found {
	readonly extension: SandboxExtension;
	readonly handle: Handle;
	/** What its backend says of this very life of it; undefined where it says nothing. */
	readonly located: Located | undefined;
	/** The backend was asked, and it is not there. */
	readonly gone: boolean;
	/** Its resource in a stack: the URN. */
	readonly urn: string | undefined;
}

/** Sandboxes, and what could not be looked at. */
export interface Seen {
	readonly found: readonly Found[];
	readonly failures: readonly SandboxerError[];
}

/** More of a standard input than this is no handle and no outputs of a stack. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/** All sandboxes of a place, by their ids: of its stack, where it has one, else of its extensions. */
export async function findAll(place: Place): Promise<Seen> {
	const { found, failures } = place.stack === undefined ? await locate(place, {}) : await ofStack(place);
	return { found: found.toSorted((a, b) => (a.handle.sandbox_id < b.handle.sandbox_id ? -1 : 1)), failures };
}

/**
 * The one sandbox that a name stands for.
 *
 * @param name - An id, a resource's name or URN, or `-` for a handle on standard input; none: the only one of the stack.
 * @throws SandboxerError `gone` where there is none, `conflict` where several fit, the first failure where none was
 * found but not everybody answered.
 */
export async function findOne(place: Place, name: string | undefined, streams: Streams): Promise<Found> {
	if (name === "-") return ofHandle(place, findHandle(await textFrom(streams.stdin)));
	if (name === undefined && place.stack === undefined)
		throw new UsageError("Which sandbox is not said.", "Name it, or a stack with --stack.");
	const { found, failures } = await candidates(place, name);
	const [only, second] = found;
	if (only !== undefined && second === undefined) return only;
	if (only !== undefined) throw ambiguous(name, found, place);
	// Whoever did not answer may have it.
	const [failure] = failures;
	if (failure !== undefined) throw failure;
	throw new SandboxerError({
		code: "gone",
		message: `${place.stack === undefined ? "No sandbox here" : `No sandbox of stack ${place.stack.name}`} is called ${JSON.stringify(name)}.`,
		hint: "sandboxer list shows those there are.",
	});
}

async function candidates(place: Place, name: string | undefined): Promise<Seen> {
	if (place.stack === undefined && name !== undefined && sandboxIdSchema.safeParse(name).success) {
		const byId = await locate(place, { sandboxId: name });
		if (byId.found.length > 0) return byId;
	}
	const { found, failures } = await findAll(place);
	if (name === undefined) return { found, failures };
	const byId = found.filter(({ handle }) => handle.sandbox_id === name);
	return { found: byId.length > 0 ? byId : found.filter((one) => isCalled(one, name)), failures };
}

function isCalled({ urn, located }: Found, name: string): boolean {
	return [urn, located?.owner.urn].some((known) => known === name || known?.split("::").at(-1) === name);
}

async function locate(place: Place, query: { readonly sandboxId: string } | Record<never, never>): Promise<Seen> {
	const { answers, failures } = await place.ask("find its sandboxes", (extension, unreadable) =>
		extension.locate(query, { ...place.call(LOOK_SECONDS), unreadable }),
	);
	const found = answers.flatMap(({ extension, value }) =>
		value.map((located) => ({
			extension,
			// Whoever reads it must know whom to ask.
			handle: { ...located.handle, extension: extension.declaration.id },
			located,
			gone: false,
			urn: undefined,
		})),
	);
	return { found, failures };
}

async function ofStack(place: Place): Promise<Seen> {
	const found: Found[] = [];
	const failures: SandboxerError[] = [];
	for (const one of (await place.stack?.sandboxes()) ?? []) {
		try {
			found.push({ ...(await ofHandle(place, handleOf(one))), urn: one.urn });
		} catch (thrown) {
			failures.push(SandboxerError.from(thrown));
		}
	}
	return { found, failures };
}

function handleOf({ urn, id, handle }: StackSandbox): Handle {
	try {
		return findHandle(handle);
	} catch (cause) {
		throw new SandboxerError({
			code: "unknown",
			message: `The handle of ${urn} cannot be read from the state: it is secret, or no sandbox was made.`,
			...(id === "" ? {} : { hint: `Name the sandbox by its id, without --stack: ${id}.` }),
			details: { urn, sandbox_id: id },
			cause,
		});
	}
}

async function ofHandle(place: Place, handle: Handle): Promise<Found> {
	const extension = place.open(handle.extension);
	const all = await lives(extension, handle, place);
	const located = all?.find(({ handle: { generation } }) => generation === handle.generation);
	return { extension, handle, located, gone: all !== undefined && located === undefined, urn: undefined };
}

/** The sandboxes of a handle's id; undefined where the extension cannot find any: it can still be given the handle. */
async function lives(extension: SandboxExtension, handle: Handle, place: Place): Promise<Located[] | undefined> {
	try {
		return await extension.locate({ sandboxId: handle.sandbox_id }, place.call(LOOK_SECONDS));
	} catch (thrown) {
		if (hasCode(thrown, "unsupported")) return undefined;
		throw thrown;
	}
}

async function textFrom(stdin: Streams["stdin"]): Promise<string> {
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of stdin) {
		size += (chunk as Buffer).length;
		if (size > MAX_INPUT_BYTES) throw new UsageError("Standard input is too long to be a handle.");
		chunks.push(chunk as Buffer);
	}
	return Buffer.concat(chunks).toString("utf8");
}

function ambiguous(name: string | undefined, found: readonly Found[], place: Place): SandboxerError {
	const shown = found.map(
		({ handle, located, urn }) => `${handle.sandbox_id} (${handle.extension}, ${urn ?? located?.owner.urn ?? "?"})`,
	);
	return new SandboxerError({
		code: "conflict",
		message:
			name === undefined
				? `Stack ${place.stack?.name} has several sandboxes: ${shown.join(", ")}.`
				: `${JSON.stringify(name)} fits several sandboxes: ${shown.join(", ")}.`,
		hint: "Name one by its id; where the id is the same, say which with --extension or --stack.",
		details: { candidates: found.map(({ handle }) => handle) },
	});
}
