/** Something small that is wrong with an extension. */
export interface Mutant {
	readonly what: string;
	/** File of the repository, what stands there, and what stands there instead. */
	readonly edits: readonly (readonly [file: string, find: string, put: string])[];
	/** Names of the cases that are to see it, as "part: name". */
	readonly seen: RegExp;
	/** Where it makes a difference at all. */
	readonly only?: "root" | "an ordinary user";
}

const ENTRY = "extensions/bwrap/entry/entry-command.ts";
const ENTRY_PROCESS = "extensions/bwrap/entry/entry-process.ts";
const RUN_ENTRY = "extensions/bwrap/entry/run-entry.ts";
const RUN_COMMAND = "extensions/bwrap/entry/run-command.ts";
const HOLDER = "extensions/bwrap/holder/command.ts";
const SUPERVISE = "extensions/bwrap/holder/supervise.sh";
const NEW_RECORD = "extensions/bwrap/new-record.ts";
const PROVISION = "extensions/bwrap/provision.ts";
const TEARDOWN = "extensions/bwrap/teardown.ts";
const HOLD = "extensions/bwrap/hold.ts";
const RECORD = "extensions/bwrap/record.ts";
const COLLECTOR = "provider/execution/output-collector.ts";

/** None of them looks at itself: what is wrong is for the kit to see, not for the extension's own probes. */
export const BLIND: Mutant["edits"] = [
	[
		"extensions/bwrap/probes/prove.ts",
		"	const programs = found();",
		'	await probes.drop(directory).catch(() => undefined);\n	if (Date.now() > 0) return { isolation: { status: "enforced", note: "" } };\n	const programs = found();',
	],
];

const COMMANDS: readonly Mutant[] = [
	{
		what: "commands do not die with their parent",
		edits: [[ENTRY, '"--die-with-parent", ', ""]],
		seen: /caller that is killed/,
	},
	{
		what: "whoever enters does not die with its caller",
		edits: [[ENTRY, '"--pdeathsig", "KILL"', '"--pdeathsig", "clear"']],
		seen: /caller that is killed/,
	},
	{
		what: "commands have no pid namespace of their own",
		edits: [[ENTRY, '"--unshare-pid", "--proc", "/proc", "--remount-ro"', '"--remount-ro"']],
		seen: /seeing each other|which ends with it/,
	},
	{
		what: "/proc of commands can be written to",
		edits: [[ENTRY, '"--remount-ro", "/proc", ', ""]],
		seen: /\/proc that cannot be written to/,
	},
	{
		what: "commands keep capabilities",
		edits: [[ENTRY, '"--cap-drop", "ALL"', '"--cap-add", "ALL"']],
		seen: /no capability/,
	},
	{
		what: "commands have no filter",
		edits: [[ENTRY, '"--seccomp", String(ENTRY_DESCRIPTORS.filter)', '"--args", "3"']],
		seen: /system calls filtered/,
	},
	{
		what: "commands run as the sandbox's root",
		edits: [[ENTRY, 'user === "root" ? []', "user !== undefined ? []"]],
		seen: /uid and gid 1000/,
	},
	{
		what: "commands are in no session of their own",
		edits: [
			[ENTRY, '"--new-session", ', ""],
			[ENTRY_PROCESS, "detached: true", "detached: false"],
		],
		seen: /session|terminal/,
	},
	{
		what: "commands leave core files",
		edits: [[ENTRY, '"--core=1:1"', '"--core=1048576:1048576"']],
		seen: /core file/,
	},
	{
		what: "commands do not join the sandbox's control groups",
		edits: [[ENTRY, "joinText(record.cgroups)", "joinText([])"]],
		seen: /what a process can take/,
		only: "root",
	},
	{
		what: "commands have no limits of their own where there are no groups",
		edits: [[ENTRY, "[`--data=${bytes}:${bytes}`]", "[]"]],
		seen: /what a process can take/,
		only: "an ordinary user",
	},
	{
		what: "the environment is given before it is cleared",
		edits: [
			[
				ENTRY,
				'"--clearenv", "--args", String(ENTRY_DESCRIPTORS.arguments)',
				'"--args", String(ENTRY_DESCRIPTORS.arguments), "--clearenv"',
			],
		],
		seen: /variable byte for byte/,
	},
	{
		what: "credentials stand on a command line",
		edits: [
			[
				ENTRY,
				'"--clearenv", "--args", String',
				'"--clearenv", ...Object.entries(arguments[2].env).flatMap(([n, v]) => ["--setenv", n, v]), "--args", String',
			],
		],
		seen: /no command line of this machine/,
	},
	{
		what: "descriptors are inherited",
		edits: [[HOLDER, 'return stray.flatMap((descriptor) => ["--args", String(descriptor)]);', "return [];"]],
		seen: /descriptors 0, 1 and 2/,
	},
	{
		what: "the caller's environment goes along",
		edits: [
			["provider/transport/local/spawn-clean.ts", "env: { ...options.env }", "env: { ...process.env, ...options.env }"],
		],
		seen: /proc\/1\/environ|any environment or command line/,
	},
	{
		what: "files of credentials go into what all commands share",
		edits: [
			[ENTRY_PROCESS, '"--size", String(bytes), "--perms", "0700", "--tmpfs", "/run/secrets", ...files', "...files"],
			[ENTRY_PROCESS, '["--remount-ro", "/run/secrets"]', "[]"],
		],
		seen: /every other command, while and after|none that was not asked for/,
	},
	{
		what: "standard input is inherited",
		edits: [
			[
				ENTRY_PROCESS,
				'command.stdin === undefined ? "ignore" : "pipe"',
				'command.stdin === undefined ? "inherit" : "pipe"',
			],
		],
		seen: /closes standard input/,
	},
	{
		what: "the limit ends the direct child only",
		edits: [
			[ENTRY_PROCESS, "process.kill(-pid", "process.kill(pid"],
			[ENTRY, '"--die-with-parent", ', ""],
		],
		seen: /at the limit, and all that it started/,
	},
	{
		what: "an abort is not heard",
		edits: [
			[RUN_ENTRY, 'signal.addEventListener("abort", onAbort, { once: true });', ""],
			[RUN_ENTRY, "if (signal.aborted) onAbort();", ""],
		],
		seen: /asks to stop/,
	},
	{
		what: "an abort is not heard while a command is being started",
		edits: [
			[RUN_ENTRY, "if (signal.aborted) onAbort();", ""],
			// Else the moment is so short that only luck hits it.
			[
				RUN_ENTRY,
				'	signal.addEventListener("abort"',
				'	await new Promise((later) => setTimeout(later, 5));\n	signal.addEventListener("abort"',
			],
		],
		seen: /asks to stop while it is being started/,
	},
	{
		what: "the exit code of the way in is passed on as the command's",
		edits: [[ENTRY_PROCESS, 'return word === "started" ? undefined : word;', "return undefined;"]],
		seen: /program that is not there/,
	},
	{
		what: "a death by a signal is told as 1",
		edits: [
			[
				RUN_ENTRY,
				"return { exitCode, timedOut: false };",
				"return { exitCode: exitCode > 128 ? 1 : exitCode, timedOut: false };",
			],
		],
		seen: /death by SIGTERM/,
	},
	{
		what: "a sandbox that ended is not told from a command that was killed",
		edits: [
			[
				RUN_ENTRY,
				"if (exitCode === KILLED && (await endsWithin(ENDING_MS, new ProcessTable(), record))) throw ended(record);",
				"",
			],
		],
		seen: /sandbox ended meanwhile/,
	},
	{
		what: "variables named as a wrapper's own are lost",
		edits: [["extensions/bwrap/entry/gate.sh", "local answer program folder seen mine ", "local "]],
		seen: /wrapper's own/,
	},
	{
		what: "the output is kept without a bound",
		edits: [[COLLECTOR, "this.room = maxBytes;", "this.room = Number.MAX_SAFE_INTEGER;"]],
		seen: /too much output|bounded memory/,
	},
	{
		what: "the output is cut in the middle of a character",
		edits: [[COLLECTOR, "truncated ? whole : whole + decoder.end()", "whole + decoder.end()"]],
		seen: /cuts before a character/,
	},
	{
		what: "nobody waits for whoever takes the output",
		edits: [["provider/execution/command-output.ts", "return this.listener?.(", "void this.listener?.("]],
		seen: /holds a command back/,
	},
];

const SANDBOXES: readonly Mutant[] = [
	{
		what: "the sandbox has no user id of its own",
		edits: [[NEW_RECORD, "isRoot ? {", "false ? {"]],
		seen: /root that is not the machine's/,
		only: "root",
	},
	{
		what: "/dev/shm is unbounded",
		edits: [[HOLDER, '"--size", size, "--tmpfs", "/dev/shm"', '"--tmpfs", "/dev/shm"']],
		seen: /what \/dev\/shm can take/,
	},
	{
		what: "/tmp is unbounded",
		edits: [[HOLDER, '"--perms", "1777", "--size", size, "--tmpfs", "/tmp"', '"--perms", "1777", "--tmpfs", "/tmp"']],
		seen: /what \/tmp can take/,
	},
	{
		what: "/tmp is the machine's",
		edits: [[HOLDER, '"--perms", "1777", "--size", size, "--tmpfs", "/tmp"', '"--bind", "/tmp", "/tmp"']],
		seen: /no file of this machine's own/,
	},
	{
		what: "/ can be written to",
		edits: [[HOLDER, '"--remount-ro", "/", ', ""]],
		seen: /what the machine's programs are/,
	},
	{
		what: "deny allows",
		edits: [[NEW_RECORD, "network: profile.network.default,", 'network: "allow",']],
		seen: /loopback interface/,
	},
	{
		what: "a handle of an earlier holder is accepted",
		edits: [[RECORD, " && handle.claim === record.claim", ""]],
		seen: /in which any field is another|hands a sandbox over: /,
	},
	{
		what: "a handle of an earlier life is accepted",
		edits: [[RECORD, " && handle.generation === record.generation", ""]],
		seen: /in which any field is another|next life/,
	},
	{
		what: "a handle that names another process is accepted",
		edits: [[RUN_COMMAND, "named?.pid !== real.pid ||", "false ||"]],
		seen: /execute refuses a handle/,
	},
	{
		what: "a foreign owner is accepted",
		edits: [[PROVISION, "if (!isSameOwner(owner, request.owner)) {", "if (false) {"]],
		seen: /refuses another owner/,
	},
	{
		what: "a sandbox of another digest is adopted",
		edits: [[PROVISION, "!isOver && earlier.digest === request.digest &&", "!isOver &&"]],
		seen: /asks for something else/,
	},
	{
		what: "a claim leaves the old handle good",
		edits: [[HOLD, "changesHands ? record.claim + 1 : record.claim", "record.claim"]],
		seen: /hands a sandbox over: /,
	},
	{
		what: "locate hides what was never finished",
		edits: [
			[
				HOLD,
				"if (record === undefined) return [];",
				'if (record === undefined || record.phase !== "ready") return [];',
			],
		],
		seen: /finds and removes a create/,
	},
	{
		what: "teardown forgets the control groups",
		edits: [
			[TEARDOWN, "const groups = await removeCgroups(", "const groups: string[] = []; void (("],
			[TEARDOWN, "record.cgroups, END_TIMEOUT_MS);", "record.cgroups, END_TIMEOUT_MS));"],
		],
		seen: /says what it found and removed/,
		only: "root",
	},
	{
		what: "teardown forgets the workspace, and reports success",
		edits: [
			[
				TEARDOWN,
				"const tree = await removeTree(directory, { signal: call.signal, marker: isOurs, last: [RECORD_FILE] });",
				"const tree = { removed: true, remains: [] as string[] }; void isOurs;",
			],
		],
		seen: /says what it found and removed/,
	},
	{
		what: "teardown ends nothing, and reports success",
		edits: [
			[TEARDOWN, 'if (supervisor !== undefined) site.table.signal(supervisor, "SIGKILL", "group");', ""],
			[TEARDOWN, 'if (init !== undefined) site.table.signal(init, "SIGKILL");', ""],
			[
				TEARDOWN,
				"const alive = await waitUntilDead(site.table, processes, END_TIMEOUT_MS);",
				"const alive: ProcessIdentity[] = [];",
			],
			[
				TEARDOWN,
				"const groups = await removeCgroups(cgroupName(directory, record.sandbox_id), record.cgroups, END_TIMEOUT_MS);",
				"const groups: string[] = [];",
			],
		],
		seen: /says what it found and removed/,
	},
	{
		what: "a deadline is read once",
		edits: [
			[SUPERVISE, 'while kill -0 "$held"', 'read -r once <"$folder/control/deadline"\nwhile kill -0 "$held"'],
			[SUPERVISE, '	read -r deadline <"$folder/control/deadline"', "	deadline=$once"],
		],
		seen: /deadline away|deadline nearer/,
	},
	{
		what: "a lease never ends",
		edits: [[SUPERVISE, '[ "$left" -gt 0 ] ||', '[ "$left" -gt 0 ] || left=5\n	: ||']],
		seen: /when its lease is over/,
	},
	{
		what: "a lease goes by the caller's clock",
		edits: [
			["extensions/bwrap/lease.ts", "uptimeSeconds(site.clock) >= deadline", "Date.parse(expires_at) <= site.now()"],
		],
		seen: /goes by the clock of the place/,
	},
	{
		what: "a lease is extended beyond the longest",
		edits: [
			[
				"extensions/bwrap/extend.ts",
				"Math.min(momentOf(record, expiresAt ?? lease.expiresAt), longest)",
				"momentOf(record, expiresAt ?? lease.expiresAt)",
			],
		],
		seen: /longest lease/,
	},
	{
		what: "a lease is renewed after its end",
		edits: [
			[
				"extensions/bwrap/extend.ts",
				"if (!held || !hasBeenReady(record) || !isWhole(site.table, record))",
				"if (!held || !hasBeenReady(record))",
			],
			["extensions/bwrap/extend.ts", "if (lease.isOver) throw over(record, lease.expiresAt);", ""],
			[
				"extensions/bwrap/extend.ts",
				"await moveDeadline(site, directory, record, deadlineOf(record, granted), call);",
				"",
			],
		],
		seen: /renews no lease/,
	},
	{
		what: "a sandbox is expired before its time",
		edits: [["extensions/bwrap/expire.ts", "!(await leaseState(site, directory, record)).isOver", "false"]],
		seen: /expires no sandbox/,
	},
	{
		what: "an archive is restored unseen",
		edits: [["provider/snapshots/inspector.ts", "if (fault !== undefined) throw new ArchiveFault(fault, name);", ""]],
		seen: /hostile archive/,
	},
];

export const MUTANTS: readonly Mutant[] = [...COMMANDS, ...SANDBOXES];
