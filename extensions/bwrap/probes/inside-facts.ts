/** What `probe.sh` printed, taken apart. */
export interface InsideFacts {
	/** The probe came to its end: without this nothing below may be trusted. */
	readonly complete: boolean;
	/** Fields of /proc/self/status by name. */
	readonly status: ReadonlyMap<string, string>;
	/** Hard limits by name, such as "Max core file size". */
	readonly limits: ReadonlyMap<string, string>;
	/** Kind → the namespace a command is in, such as "pid:[4026532328]". */
	readonly namespaces: ReadonlyMap<string, string>;
	/** bwrap ends the command, and all that it started, with whoever entered. */
	readonly endsWithCaller: boolean;
	/** Mount point → its options, those of the mount and those of the file system, and its "type=tmpfs" or the like. */
	readonly mounts: ReadonlyMap<string, readonly string[]>;
	/** Controller → path of the group as seen from the sandbox's own cgroup namespace. */
	readonly cgroups: ReadonlyMap<string, string>;
	readonly interfaces: readonly string[];
	/** Field 6 of /proc/self/stat: 0 for a session that began outside. */
	readonly session: string | undefined;
	/** Field 7 of /proc/self/stat: 0 for no terminal. */
	readonly terminal: string | undefined;
	/** Homes and process folders there are. */
	readonly there: readonly string[];
	readonly descriptors: readonly number[];
	readonly writable: readonly string[];
	readonly makesUserNamespaces: boolean;
	readonly environment: readonly string[];
}

/** Files of /proc that a probe must have read, by their last name. A machine without control groups has an empty `cgroup`. */
const READ = ["status", "limits", "mountinfo", "stat", "dev", "environ", "cmdline"] as const;

export function parseInsideFacts(output: string): InsideFacts {
	const lines = output.split("\n");
	const all = (kind: string) =>
		lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1));
	const files = filesOf(lines);
	const linesOf = (file: string) => files.get(file) ?? [];
	// Words of these end with a NUL, and may hold line breaks.
	const wordsOf = (file: string) => linesOf(file).join("\n").split("\0");
	const [stat = ""] = linesOf("stat");
	const statFields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	return {
		complete: lines.filter((line) => line === "end").length === 1 && READ.every((file) => files.has(file)),
		status: new Map(linesOf("status").map((line) => splitOnce(line, ":"))),
		limits: new Map(linesOf("limits").flatMap(parseLimit)),
		namespaces: new Map(lines.flatMap(parseNamespace)),
		endsWithCaller: wordsOf("cmdline").includes("--die-with-parent"),
		mounts: new Map(linesOf("mountinfo").map(parseMount)),
		cgroups: new Map(
			linesOf("cgroup").flatMap((line) => {
				const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
				return controllers.split(",").map((controller) => [controller, path] as const);
			}),
		),
		interfaces: linesOf("dev")
			.map((line) => /^\s*([^:|]+):/.exec(line)?.[1]?.trim())
			.filter((name) => name !== undefined),
		session: statFields[6 - 3],
		terminal: statFields[7 - 3],
		there: all("there"),
		descriptors: all("descriptor").map(Number),
		writable: all("writable"),
		makesUserNamespaces: !all("userns").includes("refused"),
		environment: wordsOf("environ").flatMap((word) => (word === "" ? [] : [splitOnce(word, "=")[0]])),
	};
}

/** Name of a file of /proc → its lines, as `grep -a ''` prints several files: `/proc/self/status:NSpid:	2`. */
function filesOf(lines: readonly string[]): Map<string, string[]> {
	const files = new Map<string, string[]>();
	for (const line of lines) {
		const [, name, rest = ""] = /^\/proc\/[^:]*?([a-z]+):(.*)$/s.exec(line) ?? [];
		if (name !== undefined) files.set(name, [...(files.get(name) ?? []), rest]);
	}
	return files;
}

/** A link of /proc/self/ns: `pid:[4026532328]`; `pid_for_children` leads to one of the same kind. */
function parseNamespace(line: string): [string, string][] {
	const kind = /^([a-z]+):\[\d+\]$/.exec(line)?.[1];
	return kind === undefined ? [] : [[kind, line]];
}

export function splitOnce(text: string, separator: string): [string, string] {
	const at = text.indexOf(separator);
	return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1).trim()];
}

/** A line of /proc/PID/limits: `Max core file size     1      1       bytes`, soft limit first. */
export function parseLimit(line: string): [string, string][] {
	const [, name, hard] = /^(Max .*?)\s{2,}\S+\s+(\S+)/.exec(line) ?? [];
	return name === undefined || hard === undefined ? [] : [[name, hard]];
}

/** A later mount on the same point hides an earlier one: the map keeps the last. */
function parseMount(line: string): [string, string[]] {
	const [before = "", after = ""] = line.split(" - ");
	const [, , , , point = "", options = ""] = before.split(" ");
	const [type = "", , ofFileSystem = ""] = after.split(" ");
	return [point, [...options.split(","), ...ofFileSystem.split(","), `type=${type}`]];
}
