import { join } from "node:path";
import { z } from "zod";
import type { Handle } from "../../provider/contract";
import { credentialRouteSchema } from "../../provider/credentials";
import { SandboxerError } from "../../provider/errors";
import { processIdentitySchema } from "../../provider/identity";
import { readRecordFile, replaceFile, writeDurably } from "../../provider/records";

/** The file in a sandbox's folder that makes the folder ours. */
export const RECORD_FILE = "record.json";

/** What is known of a sandbox beside its workspace: written before the first side effect, removed last. */
export const recordSchema = z.object({
	record_version: z.literal(1),
	sandbox_id: z.string(),
	/** Which life of this id. */
	generation: z.number().int(),
	/** Which holder of this life: counts up when it is adopted or claimed, so that an earlier holder's delete finds a stranger. */
	claim: z.number().int(),
	owner: z.object({ scope: z.string(), project: z.string(), stack: z.string(), urn: z.string() }),
	consumer: z.object({ actor: z.enum(["adm", "agt", "atm"]), project: z.string() }).optional(),
	labels: z.record(z.string(), z.string()),
	/** Of what replaces a sandbox. */
	digest: z.string(),
	/** Of the profile that it was made by. */
	profile: z.object({ id: z.string(), version: z.string() }),
	/** Credential references that its profile declares. */
	credential_routes: z.array(credentialRouteSchema),
	phase: z.enum(["provisioning", "ready"]),
	/** Who made it, as an id of this machine: nobody else may enter, but root. */
	maker_uid: z.number().int(),
	/** The unprivileged id the sandbox runs under when root made it. */
	own_uid: z.number().int().optional(),
	network: z.enum(["deny", "allow"]),
	access: z.enum(["rw", "ro"]),
	resources: z.object({ cpu: z.number().optional(), memory_mb: z.number().optional() }),
	/** Folders of the control groups that hold it. */
	cgroups: z.array(z.object({ controller: z.enum(["memory", "cpu", "pids", "all"]), folder: z.string() })),
	created_at: z.iso.datetime(),
	ttl_seconds: z.number().int().positive(),
	/** The profile's longest lease. */
	max_ttl_seconds: z.number().int().positive(),
	/** It ends after this long without activity. */
	idle_seconds: z.number().int().positive().optional(),
	ready_at: z.iso.datetime().optional(),
	/** `ready_at` by the clock that the lease is counted by, in seconds. */
	ready_uptime: z.number().nonnegative().optional(),
	expires_at: z.iso.datetime().optional(),
	/** pid 1 of the sandbox, as this machine counts. */
	init: processIdentitySchema.optional(),
	supervisor: processIdentitySchema.optional(),
});
export type BwrapRecord = z.output<typeof recordSchema>;

/** The record in a sandbox's folder; undefined where there is none. */
export function readRecord(directory: string): Promise<BwrapRecord | undefined> {
	const file = join(directory, RECORD_FILE);
	return readRecordFile(file, recordSchema, {
		what: `The sandbox record ${file}`,
		unreadable: "Only the user that made a sandbox, or root, may use it.",
		damaged: "Look at it; if the sandbox is not wanted any more, end its processes and remove the folder.",
	});
}

export function writeRecord(directory: string, record: BwrapRecord): Promise<void> {
	return writeDurably(join(directory, RECORD_FILE), textOf(record));
}

/**
 * Writes over the record of a create that it is ready. All of this machine see it at once; it outlasts a crash of the
 * machine, and with it of the sandbox, once `waitReady` has synchronised the folder: until then nobody was told of it.
 */
export function writeReadyRecord(directory: string, record: BwrapRecord): Promise<void> {
	return replaceFile(join(directory, RECORD_FILE), textOf(record));
}

function textOf(record: BwrapRecord): string {
	return `${JSON.stringify(record)}\n`;
}

/** The handle of `ext.bwrap`: the common keys, and the process that holds the sandbox. */
export const handleSchema = z.object({
	extension: z.literal("ext.bwrap"),
	sandbox_id: z.string(),
	host: z.literal("local"),
	generation: z.number().int(),
	claim: z.number().int(),
	remote_dir: z.string(),
	boot_id: z.string().optional(),
	pid: z.number().int().optional(),
	start_ticks: z.number().int().optional(),
});
export type BwrapHandle = z.output<typeof handleSchema>;

/** A handle out of a state, which can be old or edited. */
export function parseHandle(handle: Handle): BwrapHandle {
	const parsed = handleSchema.safeParse(handle);
	if (parsed.success) return parsed.data;
	throw new SandboxerError({
		code: "unknown",
		message: `The handle of sandbox ${JSON.stringify(handle.sandbox_id)} is not one of ext.bwrap: ${z.prettifyError(parsed.error)}.`,
		hint: "Nothing was touched. Restore the state from a backup, or remove the resource from it with pulumi state delete once the sandbox is gone.",
	});
}

export function toHandle(record: BwrapRecord, directory: string): Handle {
	const { supervisor } = record;
	return {
		extension: "ext.bwrap",
		sandbox_id: record.sandbox_id,
		host: "local",
		generation: record.generation,
		claim: record.claim,
		remote_dir: directory,
		...(supervisor === undefined ? {} : { ...supervisor }),
	};
}

/** Whether a handle means this life and this holder of the sandbox, and not an earlier or another one. */
export function isHolder(handle: BwrapHandle, record: BwrapRecord): boolean {
	return (
		handle.sandbox_id === record.sandbox_id && handle.generation === record.generation && handle.claim === record.claim
	);
}
