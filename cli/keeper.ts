import { join } from "node:path";
import { text } from "node:stream/consumers";
import { SandboxerError } from "../provider/errors";
import { ProcessTable } from "../provider/identity";
import { writeDurably } from "../provider/records";
import { openExtension } from "../provider/registry";
import type { End, Start } from "./detached/folder";
import type { Job } from "./detached/job";
import { KeptOutput } from "./detached/kept-output";
import { errorDocument } from "./output/report";
import { settingsOf } from "./place/settings";

/**
 * Holds one execution open while nobody watches. Says on standard output that it has the execution, and when it has
 * ended; whoever started it may be gone by then.
 */
async function keep(job: Job): Promise<void> {
	const stop = new AbortController();
	for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop.abort());
	const keeper = new ProcessTable().identify(process.pid);
	if (keeper === undefined) throw new SandboxerError({ code: "internal", message: "This process is not in /proc." });
	const outputs = {
		stdout: await KeptOutput.in(job.folder, "stdout"),
		stderr: await KeptOutput.in(job.folder, "stderr"),
	};
	const start: Start = {
		version: 1,
		exec_id: job.execId,
		extension: job.handle.extension,
		sandbox_id: job.handle.sandbox_id,
		argv: [...job.argv],
		started_at: new Date().toISOString(),
		keeper,
	};
	await writeDurably(join(job.folder, "start.json"), JSON.stringify(start));
	process.stdout.write("kept\n");
	const result = await executed(job, outputs, stop.signal);
	const end: End = {
		ended_at: new Date().toISOString(),
		stopped: stop.signal.aborted,
		...result,
		stdout: await outputs.stdout.close(),
		stderr: await outputs.stderr.close(),
	};
	await writeDurably(join(job.folder, "end.json"), JSON.stringify(end));
	process.stdout.write("ended\n");
}

async function executed(
	{ handle, settings, argv, refs, timeoutSeconds, context }: Job,
	outputs: Readonly<Record<"stdout" | "stderr", KeptOutput>>,
	signal: AbortSignal,
): Promise<Pick<End, "exit_code" | "timed_out" | "error">> {
	try {
		const { exitCode, timedOut } = await openExtension(handle.extension, settingsOf(settings)).execute(
			handle,
			argv,
			{
				credentialRouteRefs: refs,
				executionContext: context,
				timeoutSeconds,
				maxOutputBytes: 0,
				// What stands in files outlives the command.
				maskCredentials: true,
				onOutput: (stream, chunk) => outputs[stream].add(chunk),
			},
			{ signal },
		);
		return { exit_code: exitCode, timed_out: timedOut, error: null };
	} catch (thrown) {
		return { exit_code: null, timed_out: false, error: errorDocument(SandboxerError.from(thrown)) };
	}
}

// Whoever started it may be gone.
process.stdout.on("error", () => undefined);

void text(process.stdin)
	.then((told) => keep(JSON.parse(told) as Job))
	.then(
		() => process.exit(0),
		(thrown: unknown) => {
			process.stdout.write(`failed ${JSON.stringify(errorDocument(thrown))}\n`, () => process.exit(1));
		},
	);
