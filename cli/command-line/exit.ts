/** What the command's exit status means, beside a command's own (`exec`) and 128 + n after signal n. */
export const EXIT = {
	ok: 0,
	failure: 1,
	usage: 2,
	notFound: 3,
	partial: 4,
	timeLimit: 124,
	ownFailure: 125,
	notRunnable: 126,
	notThere: 127,
	outputClosed: 141,
} as const;

/** The table of `sandboxer help` and of docs/cli.md. */
export const EXIT_MEANINGS: readonly (readonly [codes: string, meaning: string])[] = [
	["0", "done; of a dry run: looked"],
	["1", "failed; show: the sandbox is there, but cannot be used; validate: a document has problems"],
	["2", "the command line is wrong; nothing was done"],
	["3", "there is no such sandbox, snapshot or execution (proved, not guessed)"],
	["4", "of several things some failed; the rest was done, and the output says which"],
	["0-255", "exec, exec --attach: the command's own (128 + n where signal n ended it there)"],
	["124", "exec: the time limit ended it"],
	["125", "exec: we failed, whatever the reason; the command did not run, or its end is not known"],
	["126", "exec: the command is there, but could not be started"],
	["127", "exec: there is no such command in the sandbox"],
	[
		"129, 130, 143",
		"ended by SIGHUP, Ctrl-C, SIGTERM; exec ends its command first; exec --attach: stopped by --stop (143)",
	],
	["141", "nobody reads the output any more"],
];
