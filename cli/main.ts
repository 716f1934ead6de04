import { SandboxerError } from "../provider/errors";
import type { Command, Streams } from "./command-line/command";
import { EXIT } from "./command-line/exit";
import { helpOf } from "./command-line/help";
import { asksForJson, parse } from "./command-line/parse";
import { UsageError } from "./command-line/usage-error";
import { COMMANDS } from "./commands";
import { reportError, reportResult } from "./output/report";

/**
 * One run of the `sandboxer` command.
 *
 * @returns Its exit status, see {@link EXIT}.
 */
export async function main(argv: readonly string[], streams: Streams, signal: AbortSignal): Promise<number> {
	let json = asksForJson(argv);
	let command: Command | undefined;
	try {
		const parsed = parse(argv, COMMANDS);
		({ command } = parsed);
		json = parsed.values.json === true;
		if (parsed.values.help === true) {
			streams.stdout.write(`${helpOf(command)}\n`);
			return EXIT.ok;
		}
		const { values, words, rest } = parsed;
		const call = { values, words, command: rest, json, commands: COMMANDS, streams, signal, now: Date.now };
		const result = await command.run(call);
		reportResult(result, json, streams);
		return result.exit ?? ((result.failures ?? []).length > 0 ? EXIT.partial : EXIT.ok);
	} catch (thrown) {
		const error = SandboxerError.from(thrown);
		// Whoever stopped it knows.
		if (json || error.code !== "aborted" || !signal.aborted) reportError(error, json, streams);
		return exitOf(error, command ?? COMMANDS.find(({ name }) => name === argv[0]));
	}
}

function exitOf(error: SandboxerError, command: Command | undefined): number {
	if (command?.exitOf !== undefined) return command.exitOf(error);
	if (error instanceof UsageError) return EXIT.usage;
	return error.code === "gone" ? EXIT.notFound : EXIT.failure;
}
