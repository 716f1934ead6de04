import { parseArgs } from "node:util";
import { nearest } from "../../provider/documents/nearest";
import type { Argument, Command, Options, Values } from "./command";
import { UsageError } from "./usage-error";

/** Options that every command has. */
export const COMMON = {
	json: { type: "boolean", about: "One JSON document on standard output, and nothing else" },
	help: { type: "boolean", short: "h", about: "Help with this command" },
} as const satisfies Options;

/** A command line, understood. */
export interface Parsed {
	readonly command: Command;
	readonly values: Values<Options> & Values<typeof COMMON>;
	readonly words: readonly string[];
	readonly rest: readonly string[] | undefined;
}

/** Other ways to ask for a command. */
const ALIASES: Readonly<Record<string, string>> = { "--help": "help", "-h": "help", ls: "list", rm: "remove" };

/** @throws UsageError with what was probably meant. */
export function parse(argv: readonly string[], commands: readonly Command[]): Parsed {
	const [first = "help", ...more] = argv;
	const command = named(ALIASES[first] ?? first, commands);
	const end = command.takesCommand ? more.indexOf("--") : -1;
	const { values, words } = options(command, end === -1 ? more : more.slice(0, end));
	if (values.help !== true) assertWords(command, words);
	return { command, values, words, rest: end === -1 ? undefined : more.slice(end + 1) };
}

/** Whether `--json` stands on a command line that may be wrong otherwise. */
export function asksForJson(argv: readonly string[]): boolean {
	const end = argv.indexOf("--");
	return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}

export function named(name: string, commands: readonly Command[]): Command {
	const command = commands.find((candidate) => candidate.name === name);
	if (command !== undefined) return command;
	const names = commands.map((candidate) => candidate.name);
	const meant = nearest(name, names);
	throw new UsageError(
		`There is no command ${JSON.stringify(name)}${meant === undefined ? "." : `; did you mean "${meant}"?`}`,
		`Commands: ${names.join(", ")}.`,
	);
}

function options(command: Command, args: readonly string[]) {
	const known: Options = { ...command.options, ...COMMON };
	try {
		const { values, positionals } = parseArgs({ args: [...args], options: known, allowPositionals: true });
		return { values: values as Parsed["values"], words: positionals };
	} catch (thrown) {
		throw refusal(command, known, (thrown as Error).message);
	}
}

/** parseArgs names the option in quotes, as it was written. */
function refusal(command: Command, known: Options, message: string): UsageError {
	const hint = `See: sandboxer help ${command.name}.`;
	const [, written = ""] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
	if (written === "") return new UsageError(message.replace(/\.?$/, "."), hint);
	const meant = nearest(
		written,
		Object.keys(known).map((name) => `--${name}`),
	);
	return new UsageError(
		`sandboxer ${command.name} has no option ${written}${meant === undefined ? "." : `; did you mean ${meant}?`}`,
		hint,
	);
}

function assertWords({ name, arguments: known }: Command, words: readonly string[]): void {
	const missing = known.filter((argument, index) => argument.optional === undefined && words[index] === undefined)[0];
	const hint = `See: sandboxer help ${name}.`;
	if (missing !== undefined) throw new UsageError(`sandboxer ${name} needs ${missing.name}.`, hint);
	const surplus = known.some(({ many }) => many) ? undefined : words[known.length];
	if (surplus !== undefined) throw new UsageError(`sandboxer ${name} does not take ${JSON.stringify(surplus)}.`, hint);
}

/** How the words of a command are written, such as `NAME [DURATION]`. */
export function written({ name, optional, many }: Argument): string {
	const text = many ? `${name}...` : name;
	return optional ? `[${text}]` : text;
}
