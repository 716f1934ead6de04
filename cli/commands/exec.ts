import { defineCommand, type Invocation, type Values } from "../command-line/command";
import { duration } from "../command-line/duration";
import { UsageError } from "../command-line/usage-error";
import { detach } from "../detached/detach";
import type { Job } from "../detached/job";
import { attach, document, forgotten, listed, stopped } from "../execution/background";
import { exitOfError } from "../execution/exit";
import { runToEnd } from "../execution/run";
import { findOne } from "../place/find";
import { WHERE } from "../place/options";
import { Place } from "../place/place";

/** The contract's longest: the lease ends a sandbox, and what runs in it, long before. */
const LONGEST = "7d";

const OPTIONS = {
	...WHERE,
	timeout: { type: "string", short: "t", value: "DURATION", about: "End it after this long (default and most: 7d)" },
	cwd: {
		type: "string",
		short: "w",
		value: "DIR",
		about: "Where it runs, inside the workspace (default: the workspace)",
	},
	env: {
		type: "string",
		short: "e",
		multiple: true,
		value: "NAME=VALUE",
		about: "A variable; NAME alone takes its value from here",
	},
	credential: {
		type: "string",
		multiple: true,
		value: "REF",
		about: "A credential that the profile or the settings route",
	},
	user: {
		type: "string",
		short: "u",
		value: "USER",
		about: "sandbox (the default) or root",
		complete: ["sandbox", "root"],
	},
	interactive: { type: "boolean", short: "i", about: "Pass standard input on also from a terminal" },
	detach: { type: "boolean", short: "d", about: "Go on in the background; prints the execution's id" },
	attach: { type: "string", value: "EXEC_ID", about: "Print a background execution's output, to its end" },
	from: { type: "string", value: "OFFSET", about: "With --attach: from this byte of standard output on" },
	"from-stderr": { type: "string", value: "OFFSET", about: "With --attach: from this byte of standard error on" },
	list: { type: "boolean", about: "List this user's background executions" },
	stop: { type: "string", value: "EXEC_ID", about: "End a background execution" },
	forget: { type: "string", value: "EXEC_ID", about: "Remove the files of one that has ended" },
} as const;

type Given = Values<typeof OPTIONS>;

/** What is asked for instead of running a command here and now. */
const MODES = ["detach", "attach", "list", "stop", "forget"] as const;

export const exec = defineCommand({
	name: "exec",
	summary: "Runs a command in a sandbox, and passes its output and exit status on",
	about:
		"The command is a list of words, not a shell line: for that name a shell (-- sh -c '...'). Standard input is passed on\nwhere it is no terminal, or with -i; there is no terminal inside. Ctrl-C ends the command there. Whatever it started\nends with it: a server is kept up by --detach, whose execution a process on this side holds open until it ends, is\nstopped, or its lease is over. Of each output the first 64 MiB are kept, for 7 days after the end.",
	arguments: [{ name: "NAME", optional: true, complete: "sandboxes" }],
	takesCommand: true,
	options: OPTIONS,
	examples: [
		["sandboxer exec box -- git status", "in the workspace of box"],
		["tar c app | sandboxer exec box --cwd src -- tar x", "standard input is passed on"],
		["sandboxer exec --stack dev --timeout 10m --credential DB -- npm test", "in the only sandbox of stack dev"],
		["pulumi stack output --json | sandboxer exec - -- make", "in the one whose handle is among the outputs"],
		["sandboxer exec --detach box -- npm start", "goes on in the background; prints an id, such as x1f0c9a7e"],
		["sandboxer exec --attach x1f0c9a7e --from 4096", "its output from byte 4096 on, until it ends"],
		["sandboxer exec --stop x1f0c9a7e", "ends it"],
	],
	exitOf: exitOfError,
	async run(invocation) {
		const { values, words, command } = invocation;
		const mode = modeOf(values);
		if (mode === undefined || mode === "detach") return run(invocation);
		const surplus = words[0] ?? (command === undefined ? undefined : "--");
		if (surplus !== undefined) throw new UsageError(`--${mode} takes no ${surplus === "--" ? "command" : "sandbox"}.`);
		const { attach: attached, stop, forget } = values;
		if (attached !== undefined) return attach(attached, offsets(values), invocation);
		if (stop !== undefined) return stopped(stop);
		return forget === undefined ? listed(invocation) : forgotten(forget);
	},
});

function modeOf(values: Given): (typeof MODES)[number] | undefined {
	const [mode, other] = MODES.filter((name) => values[name] !== undefined);
	if (other !== undefined) throw new UsageError(`--${mode} and --${other} do not go together.`);
	if (mode !== "attach" && (values.from ?? values["from-stderr"]) !== undefined)
		throw new UsageError("--from goes with --attach.");
	return mode;
}

async function run(invocation: Invocation<typeof OPTIONS>) {
	const { values, words, command = [], streams } = invocation;
	const [name] = words;
	if (command.length === 0)
		throw new UsageError("Which command to run is not said.", "It stands after --: sandboxer exec NAME -- COMMAND.");
	const timeoutSeconds = duration("timeout", values.timeout ?? LONGEST);
	const context = contextOf(values);
	const { credential: refs = [], interactive = false, detach: background = false } = values;
	if (interactive && (background || name === "-"))
		throw new UsageError("--interactive needs standard input, which is not free here.");
	const place = await Place.of(invocation, { secrets: refs.length > 0 });
	const found = await findOne(place, name, streams);
	if (background) {
		const { handle } = found;
		const { settings } = place;
		const kept = await detach({ handle, settings, argv: command, refs, timeoutSeconds, context });
		if (kept.end !== undefined && kept.end.error !== null)
			return attach(kept.start.exec_id, { stdout: 0, stderr: 0 }, invocation);
		return { document: { exec: document(kept) }, text: kept.start.exec_id };
	}
	const passes = name !== "-" && (interactive || streams.stdin.isTTY !== true);
	const executionContext = { ...context, ...(passes ? { stdin: streams.stdin } : {}) };
	return runToEnd(found, command, { credentialRouteRefs: refs, executionContext, timeoutSeconds }, invocation);
}

function contextOf({ cwd, env = [], user }: Given): Job["context"] {
	if (user !== undefined && user !== "sandbox" && user !== "root")
		throw new UsageError(`--user ${JSON.stringify(user)} is neither "sandbox" nor "root".`);
	return {
		...(cwd === undefined ? {} : { cwd }),
		...(user === undefined ? {} : { user }),
		env: Object.fromEntries(env.map(variable)),
	};
}

/** `NAME=VALUE`, or `NAME` for the value it has here. */
function variable(text: string): readonly [name: string, value: string] {
	const at = text.indexOf("=");
	if (at >= 0) return [text.slice(0, at), text.slice(at + 1)];
	const value = process.env[text];
	if (value === undefined)
		throw new UsageError(`--env ${JSON.stringify(text)} is not set here.`, "Give it as NAME=VALUE.");
	return [text, value];
}

function offsets(values: Given) {
	return { stdout: offset("from", values.from), stderr: offset("from-stderr", values["from-stderr"]) };
}

function offset(option: string, text = "0"): number {
	if (/^\d{1,15}$/.test(text)) return Number(text);
	throw new UsageError(`--${option} ${JSON.stringify(text)} is no number of bytes.`);
}
