import type { Command } from "../../../provider/contract";
import { type ExecutionResult, OutputCollector } from "../../../provider/execution";
import { type Entry, runEntry } from "./run-entry";

/** How much of each output is kept, in bytes. */
const OUTPUT_BYTES = 1024 * 1024;

/** A command of ours, such as a probe, as the sandbox's root. */
export function ownCommand(argv: readonly string[]): Omit<Command, "output"> {
	return { argv, cwd: "/workspace", user: "root", env: {}, secretFiles: {}, stdin: undefined };
}

/** Runs a command of ours. */
export async function enter({
	argv,
	...entry
}: Omit<Entry, "command"> & { readonly argv: readonly string[] }): Promise<
	Pick<ExecutionResult, "exitCode" | "timedOut"> & { readonly stdout: string; readonly stderr: string }
> {
	const collectors = { stdout: new OutputCollector(OUTPUT_BYTES), stderr: new OutputCollector(OUTPUT_BYTES) };
	const end = await runEntry({
		...entry,
		command: { ...ownCommand(argv), output: (stream, chunk) => collectors[stream].add(chunk) },
	});
	return { ...end, stdout: collectors.stdout.excerpt().text, stderr: collectors.stderr.excerpt().text };
}
