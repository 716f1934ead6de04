import { rows } from "../output/table";
import type { Command, Options } from "./command";
import { EXIT_MEANINGS } from "./exit";
import { COMMON, written } from "./parse";

/** What `sandboxer help` says. */
export function overview(commands: readonly Command[]): string {
	return [
		"sandboxer: finds, uses and ends sandboxes of pulumi-sandboxer.",
		"",
		"Usage: sandboxer COMMAND [OPTIONS]",
		"",
		"Commands:",
		...rows(commands.map(({ name, summary }) => [`  ${name}`, summary])),
		"",
		"A sandbox is named by its id or its resource's name; with --stack it is one of that stack; `-` reads a handle, or the",
		"outputs of a stack, from standard input.",
		"",
		"Exit status:",
		...rows(EXIT_MEANINGS.map(([codes, meaning]) => [`  ${codes}`, meaning])),
		"",
		"sandboxer help COMMAND says more.",
	].join("\n");
}

/** What `sandboxer help COMMAND` says. */
export function helpOf(command: Command): string {
	return [
		`${command.summary}.`,
		"",
		`Usage: ${usage(command)}`,
		...(command.about === undefined ? [] : ["", command.about]),
		"",
		"Options:",
		...rows(optionRows({ ...command.options, ...COMMON })),
		"",
		"Examples:",
		...command.examples.flatMap(([line, meaning]) => [`  ${line}`, `      ${meaning}`]),
	].join("\n");
}

/** How a command is written, in one line. */
export function usage(command: Command): string {
	const words = command.arguments.map(written);
	return [
		"sandboxer",
		command.name,
		"[OPTIONS]",
		...words,
		...(command.takesCommand ? ["-- COMMAND [ARG...]"] : []),
	].join(" ");
}

function optionRows(options: Options): string[][] {
	return Object.entries(options).map(([name, { short, value, about, multiple }]) => [
		`  ${short === undefined ? "    " : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
		`${about}${multiple ? "; may be repeated" : ""}`,
	]);
}
