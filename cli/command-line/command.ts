import type { Readable, Writable } from "node:stream";
import type { SandboxerError } from "../../provider/errors";

/** What a shell can offer in place of a word. */
export type Completion = "sandboxes" | "profiles" | "extensions" | "files" | readonly string[];

/** An option, as parseArgs takes it and as help and completion tell it. */
export interface Option {
	readonly type: "string" | "boolean";
	readonly short?: string;
	readonly multiple?: true;
	/** How help calls the value. */
	readonly value?: string;
	readonly about: string;
	readonly complete?: Completion;
}

export type Options = Readonly<Record<string, Option>>;

/** The values of options as they were given. */
export type Values<O extends Options> = {
	readonly [K in keyof O]?: O[K] extends { multiple: true }
		? readonly string[]
		: O[K] extends { type: "boolean" }
			? boolean
			: string;
};

/** A word that stands for itself. */
export interface Argument {
	readonly name: string;
	readonly optional?: true;
	readonly many?: true;
	readonly complete?: Completion;
}

/** The streams of this process. */
export interface Streams {
	readonly stdin: Readable & { readonly isTTY?: boolean };
	readonly stdout: Writable & { readonly isTTY?: boolean };
	readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** One call of a command. */
export interface Invocation<O extends Options = Options> {
	readonly values: Values<O>;
	readonly words: readonly string[];
	/** What stands after `--`; undefined where there is no `--`. */
	readonly command: readonly string[] | undefined;
	readonly json: boolean;
	/** All commands, for help and completion. */
	readonly commands: readonly Command[];
	readonly streams: Streams;
	/** Fires at Ctrl-C, SIGTERM and SIGHUP, and when nobody reads the output any more. */
	readonly signal: AbortSignal;
	/** UTC, milliseconds since 1970. */
	now(): number;
}

/** What a command ended with. */
export interface Result {
	/** The one document of `--json`; undefined for a command that wrote its output itself. */
	readonly document?: object | undefined;
	/** For a person, without the last line's end. */
	readonly text?: string;
	/** What went wrong beside it: a line each on standard error, and `failures` of the document. */
	readonly failures?: readonly SandboxerError[];
	/** Default: 0, or "partial" where there are failures. */
	readonly exit?: number;
}

/** A subcommand, as data: help, completion and the parser come from it. */
export interface Command {
	readonly name: string;
	readonly summary: string;
	/** What a person must know beyond the summary. */
	readonly about?: string;
	readonly arguments: readonly Argument[];
	/** It takes a command line of its own after `--`. */
	readonly takesCommand?: true;
	readonly options: Options;
	readonly examples: readonly (readonly [line: string, meaning: string])[];
	/** The exit status for an error, where it is not the usual one. */
	exitOf?(error: SandboxerError): number;
	run(invocation: Invocation): Promise<Result>;
}

type Definition<O extends Options> = Omit<Command, "options" | "run"> & {
	readonly options: O;
	run(invocation: Invocation<O>): Promise<Result>;
};

/** Declares a command; the values in `run` have the types of its options. */
export function defineCommand<const O extends Options>(definition: Definition<O>): Command {
	return definition as unknown as Command;
}
