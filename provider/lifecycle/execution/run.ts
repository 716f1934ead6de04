import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ExecutionResult } from "../../contract";
import { SandboxerError } from "../../errors";
import { durationSeconds } from "../../lease/duration";
import { stateDirectory } from "../../records";
import type { Backend } from "../backend";
import type { ExecutionInputs, ExecutionOutputs } from "./inputs";
import { OutputFiles } from "./output-files";

/** How much of what a failed command wrote last stands in its error, in characters. */
const SHOWN = 1500;

/** Where the outputs of the last run that failed are: no resource was made, so none will remove them. */
export const FAILED = "failed";

/** The folder of the outputs of one resource. */
export function outputFolder({ owner }: Pick<ExecutionInputs, "owner">): string {
	const { scope, urn } = owner;
	const name = createHash("sha256")
		.update(JSON.stringify([scope, urn]))
		.digest("hex")
		.slice(0, 24);
	return join(
		stateDirectory((variable) => process.env[variable]),
		"executions",
		name,
	);
}

/** Runs the command, to its end. A command that fails is an error, unless it may. */
export async function runExecution(
	backend: Backend,
	inputs: ExecutionInputs,
): Promise<{ readonly id: string; readonly outputs: ExecutionOutputs }> {
	const { handle, command, cwd, env, stdin, user, credentials, timeout, owner } = inputs;
	const folder = outputFolder(inputs);
	const ranAt = new Date(backend.now()).toISOString();
	const run = createHash("sha256").update(`${ranAt} ${process.pid}`).digest("hex").slice(0, 12);
	const files = new OutputFiles(join(folder, run));
	backend.progress(`running ${shown(command)}`);
	let result: ExecutionResult;
	try {
		result = await backend.extension.execute(
			handle,
			command,
			{
				...(credentials === undefined ? {} : { credentialRouteRefs: credentials }),
				executionContext: {
					...(cwd === undefined ? {} : { cwd }),
					...(env === undefined ? {} : { env }),
					...(stdin === undefined ? {} : { stdin }),
					...(user === undefined ? {} : { user }),
				},
				timeoutSeconds: durationSeconds(timeout) ?? 0,
				maxOutputBytes: 0,
				maskCredentials: true,
				owner,
				onOutput: (stream, chunk) => files[stream].add(chunk),
			},
			backend,
		);
	} catch (thrown) {
		await files.remove();
		throw thrown;
	} finally {
		files.close();
	}
	const { exitCode, durationMs } = result;
	if (exitCode === null || (exitCode !== 0 && !inputs.mayFail)) {
		const kept = join(folder, FAILED);
		await files.moveTo(kept);
		throw failed(inputs, result, files, kept);
	}
	backend.info(`ended with ${exitCode} after ${(durationMs / 1000).toFixed(1)} s`);
	return {
		id: run,
		outputs: {
			...inputs,
			exitCode,
			stdout: files.stdout.lastText,
			stderr: files.stderr.lastText,
			output: { stdout: files.stdout.stored, stderr: files.stderr.stored },
			ranAt,
			durationMs: Math.round(durationMs),
		},
	};
}

function failed(
	{ command, handle, timeout }: ExecutionInputs,
	{ exitCode }: ExecutionResult,
	files: OutputFiles,
	folder: string,
): SandboxerError {
	const what = exitCode === null ? `did not end within ${timeout} and was ended` : `ended with exit code ${exitCode}`;
	const last = [files.stderr.lastText, files.stdout.lastText].find((text) => text.trim() !== "")?.trim() ?? "";
	return new SandboxerError({
		code: exitCode === null ? "timeout" : "failed",
		message: `The command ${shown(command)} in sandbox ${handle.sandbox_id} ${what}${last === "" ? "; it wrote nothing" : `; it wrote last:\n${last.slice(-SHOWN)}\n`}.`,
		hint: `All that it wrote is in ${folder}. The next up runs it again; with mayFail: true an exit code is a result.`,
		details: { sandbox_id: handle.sandbox_id, exit_code: exitCode },
	});
}

function shown(command: readonly string[]): string {
	const text = command.join(" ");
	return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
