import { constants } from "node:os";
import { SandboxerError } from "../../provider/errors";
import { OutputCollector } from "../../provider/execution";
import type { Invocation, Result } from "../command-line/command";
import { EXIT } from "../command-line/exit";
import { stop } from "../detached/detach";
import { allDetached, type Detached, detachedOf, forget } from "../detached/folder";
import { follow, type Offsets } from "../detached/follow";
import { errorDocument } from "../output/report";
import { table } from "../output/table";
import { bytes, moment } from "../output/times";
import { exitOfEnd, exitOfError } from "./exit";
import { passOn } from "./pass-on";

/** How much of each output stands in the document of `--attach --json`. */
const EXCERPT_BYTES = 1024 * 1024;

type Call = Pick<Invocation, "json" | "streams" | "signal" | "now">;

/** Prints the output from an offset on, and what comes, to the end; the exit status is the command's. */
export async function attach(execId: string, from: Offsets, { json, streams, signal }: Call): Promise<Result> {
	const collected = { stdout: new OutputCollector(EXCERPT_BYTES), stderr: new OutputCollector(EXCERPT_BYTES) };
	const take = json
		? (stream: "stdout" | "stderr", chunk: Uint8Array) => collected[stream].add(chunk)
		: passOn(streams);
	const seen = await follow(execId, from, take, signal);
	const output = { stdout: collected.stdout.excerpt(), stderr: collected.stderr.excerpt() };
	return {
		document: { exec: document(seen), output },
		failures: failuresOf(seen),
		exit: exitOf(seen),
	};
}

/** What is to be said beside the output: why it did not run to its end, and what of the output is not there. */
function failuresOf({ start: { exec_id }, end, state }: Detached): SandboxerError[] {
	if (state === "lost") return [lost(exec_id)];
	if (end === undefined) return [];
	const cut = (["stdout", "stderr"] as const).flatMap((stream) => {
		const { bytes: all, kept, problem } = end[stream];
		if (all === kept) return [];
		const why = problem === undefined ? "the bound of what is kept" : problem;
		const message = `The last ${all - kept} bytes of ${stream} of execution ${exec_id} were not kept (${why}).`;
		return [new SandboxerError({ code: "unknown", message })];
	});
	if (end.error === null || end.stopped) return cut;
	const { message, hint } = end.error;
	return [new SandboxerError({ code: "unknown", message, ...(hint === null ? {} : { hint }) }), ...cut];
}

function lost(execId: string): SandboxerError {
	return new SandboxerError({
		code: "unknown",
		message: `How execution ${execId} ended is not known: the process that held it open was ended, and the command with it.`,
	});
}

function exitOf({ end, state }: Detached): number {
	if (state === "running") return EXIT.ok;
	if (end === undefined) return EXIT.ownFailure;
	if (end.stopped) return 128 + constants.signals.SIGTERM;
	if (end.error !== null) return exitOfError(end.error as Pick<SandboxerError, "code" | "details">);
	return exitOfEnd({ exitCode: end.exit_code, timedOut: end.timed_out });
}

/** The executions in the background. */
export async function listed({ now }: Call): Promise<Result> {
	const { all, failures } = await allDetached();
	const rows = all.map(({ start, end, state }) => [
		start.exec_id,
		start.sandbox_id,
		end?.stopped === true ? "stopped" : state,
		moment(start.started_at, now()),
		end === undefined ? "" : String(exitOf({ start, end, state, folder: "" })),
		end === undefined ? "" : bytes(end.stdout.bytes + end.stderr.bytes),
		start.argv.join(" "),
	]);
	return {
		document: { execs: all.map(document), failures: failures.map(errorDocument) },
		text: table(
			["EXEC", "SANDBOX", "STATE", "STARTED", "EXIT", "OUTPUT", "COMMAND"],
			rows,
			"No executions in the background.",
		),
		failures,
	};
}

export async function stopped(execId: string): Promise<Result> {
	const ended = await stop(await detachedOf(execId));
	return {
		document: { exec: document(await detachedOf(execId)), stopped: ended },
		text: ended ? `${execId} was stopped.` : `${execId} had ended already.`,
	};
}

export async function forgotten(execId: string): Promise<Result> {
	const found = await detachedOf(execId);
	if (found.state === "running") {
		throw new SandboxerError({
			code: "conflict",
			message: `Execution ${execId} is still running.`,
			hint: `End it first: sandboxer exec --stop ${execId}.`,
		});
	}
	await forget(found);
	return { document: { exec: document(found), forgotten: true }, text: `${execId} is forgotten.` };
}

/** An execution in a document. */
export function document({ start, end, state, folder }: Detached) {
	return {
		execId: start.exec_id,
		sandboxId: start.sandbox_id,
		extension: start.extension,
		argv: start.argv,
		state,
		startedAt: start.started_at,
		endedAt: end?.ended_at ?? null,
		exitCode: end?.exit_code ?? null,
		timedOut: end?.timed_out ?? false,
		stopped: end?.stopped ?? false,
		stdout: end?.stdout ?? null,
		stderr: end?.stderr ?? null,
		error: end?.error ?? null,
		folder,
	};
}
