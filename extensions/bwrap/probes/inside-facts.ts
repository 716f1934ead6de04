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

export function parseInsideFacts(output: string): InsideFacts {
	const lines = output.split("\n").map((line) => {
		const blank = line.indexOf(" ");
		return blank < 0 ? { kind: line, rest: "" } : { kind: line.slice(0, blank), rest: line.slice(blank + 1) };
	});
	const stat = (field: number) =>
		all("stat")
			.map((line) => line.slice(line.lastIndexOf(")") + 2).split(" ")[field - 3])
			.find(Boolean);
	const all = (kind: string) => lines.filter((line) => line.kind === kind).map(({ rest }) => rest);
	return {
		complete: all("end").length === 1,
		status: new Map(all("status").map((line) => splitOnce(line, ":"))),
		limits: new Map(all("limits").flatMap(parseLimit)),
		namespaces: new Map(all("namespace").map((link) => [link.slice(0, link.indexOf(":")), link] as const)),
		endsWithCaller: all("first").includes("--die-with-parent"),
		mounts: new Map(all("mount").map(parseMount)),
		cgroups: new Map(
			all("cgroup").flatMap((line) => {
				const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
				return controllers.split(",").map((controller) => [controller, path] as const);
			}),
		),
		interfaces: all("net")
			.map((line) => /^\s*([^:|]+):/.exec(line)?.[1]?.trim())
			.filter((name) => name !== undefined),
		session: stat(6),
		terminal: stat(7),
		there: all("there"),
		descriptors: all("descriptor").map(Number),
		writable: all("writable"),
		makesUserNamespaces: !all("userns").includes("refused"),
		environment: all("env"),
	};
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
