import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { errnoOf, SandboxerError } from "../../provider/errors";
import { ProcessTable, processIdentitySchema } from "../../provider/identity";
import { stateDirectory } from "../../provider/records";

/** An execution that a keeper holds open; written by the keeper before it starts anything. */
const startSchema = z.object({
	version: z.literal(1),
	exec_id: z.string(),
	extension: z.string(),
	sandbox_id: z.string(),
	argv: z.array(z.string()),
	started_at: z.iso.datetime(),
	/** The process that holds it open. */
	keeper: processIdentitySchema,
});
export type Start = z.output<typeof startSchema>;

const outputSchema = z.object({
	/** All that the command wrote. */
	bytes: z.number(),
	/** What of it stands in the file, from its beginning. */
	kept: z.number(),
	/** Why less is kept than the bound allows, such as ENOSPC. */
	problem: z.string().optional(),
});

/** How it ended; written once, by the keeper. */
const endSchema = z.object({
	ended_at: z.iso.datetime(),
	/** null where we ended it, or it never ran. */
	exit_code: z.number().int().nullable(),
	timed_out: z.boolean(),
	stopped: z.boolean(),
	stdout: outputSchema,
	stderr: outputSchema,
	error: z
		.object({
			code: z.string(),
			message: z.string(),
			hint: z.string().nullable(),
			details: z.record(z.string(), z.unknown()),
		})
		.nullable(),
});
export type End = z.output<typeof endSchema>;

/**
 * `running`: its keeper lives. `ended`: it came to its end, see `end`. `lost`: its keeper was ended from outside; with
 * it the command, whose exit status nobody knows.
 */
export type ExecState = "running" | "ended" | "lost";

/** An execution in the background, as its files tell it. */
export interface Detached {
	readonly start: Start;
	readonly end: End | undefined;
	readonly state: ExecState;
	readonly folder: string;
}

/** How much of each output is kept, in bytes. */
export const KEPT_BYTES = 64 * 1024 * 1024;
/** What ended longer ago than this is removed when the next one starts. */
export const KEPT_DAYS = 7;

const NAME = /^x[0-9a-f]{8}$/;

/** Where this user's background executions are. Two users may share a state folder: what one runs is not the other's to read. */
export function execsFolder(): string {
	return join(
		stateDirectory((name) => process.env[name]),
		`execs-${process.getuid?.() ?? 0}`,
	);
}

/** A folder for a new execution, for this user's eyes only. */
export async function newFolder(): Promise<{ readonly execId: string; readonly folder: string }> {
	const base = execsFolder();
	await mkdir(base, { recursive: true, mode: 0o711 });
	await chmod(base, 0o700);
	const execId = `x${randomBytes(4).toString("hex")}`;
	const folder = join(base, execId);
	await mkdir(folder, { mode: 0o700 });
	return { execId, folder };
}

/** @throws SandboxerError `gone` where there is none of that id. */
export async function detachedOf(execId: string): Promise<Detached> {
	const found = NAME.test(execId) ? await read(join(execsFolder(), execId)) : undefined;
	if (found !== undefined) return found;
	throw new SandboxerError({
		code: "gone",
		message: `There is no execution ${JSON.stringify(execId)} of this user.`,
		hint: "sandboxer exec --list shows those there are.",
	});
}

/** All of this user's, oldest first, and what could not be read. */
export async function allDetached(): Promise<{ readonly all: Detached[]; readonly failures: SandboxerError[] }> {
	const all: Detached[] = [];
	const failures: SandboxerError[] = [];
	for (const name of (await readdir(execsFolder()).catch(absent)) ?? []) {
		if (!NAME.test(name)) continue;
		try {
			const one = await read(join(execsFolder(), name));
			if (one !== undefined) all.push(one);
		} catch (thrown) {
			failures.push(SandboxerError.from(thrown));
		}
	}
	return { all: all.sort((a, b) => a.start.started_at.localeCompare(b.start.started_at)), failures };
}

export async function forget({ folder }: Detached): Promise<void> {
	await rm(folder, { recursive: true, force: true });
}

/** Undefined while its keeper has not written anything yet. */
async function read(folder: string): Promise<Detached | undefined> {
	const start = await parsed(join(folder, "start.json"), startSchema);
	if (start === undefined) return undefined;
	// In this order: a keeper writes its end while it lives.
	const alive = new ProcessTable().isAlive(start.keeper);
	const end = await parsed(join(folder, "end.json"), endSchema);
	return { start, end, state: end !== undefined ? "ended" : alive ? "running" : "lost", folder };
}

async function parsed<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
	const text = await readFile(file, "utf8").catch(absent);
	if (text === undefined) return undefined;
	try {
		return schema.parse(JSON.parse(text));
	} catch (cause) {
		throw new SandboxerError({
			code: "unknown",
			message: `${file} is damaged, or of another version of this package.`,
			hint: "If the execution is not wanted any more, remove its folder.",
			cause,
		});
	}
}

function absent(thrown: unknown): undefined {
	const errno = errnoOf(thrown);
	if (errno !== "ENOENT" && errno !== "ENOTDIR") throw thrown;
}
