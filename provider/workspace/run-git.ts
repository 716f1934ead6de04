import { spawn } from "node:child_process";
import { delimiter, isAbsolute, resolve } from "node:path";
import { hasErrno, SandboxerError } from "../errors";
import { stopIfAborted } from "./stop";

/** How git is run. */
export interface GitSettings {
	/** The program, by name or path. */
	readonly git: string;
	/** What is being done, for messages, such as `the copy of inputs.repo "/srv/app"`. */
	readonly step: string;
	readonly signal: AbortSignal;
}

/** What git said. */
export interface GitAnswer {
	/** Null when a signal ended it. */
	readonly exitCode: number | null;
	readonly stdout: Buffer;
	readonly stderr: string;
	/** Whether git refused because the repository is another user's. */
	readonly isForeign: boolean;
}

/** What may stand in a repository's own config and would start a program: overruled, also for programs that git starts. */
const HARMLESS = [
	"--no-pager",
	"-c",
	"core.fsmonitor=false",
	"-c",
	"core.hooksPath=/dev/null",
	"-c",
	"core.sshCommand=false",
];

/** Nothing of the machine's or the person's git settings, no locks, no questions, no network (a partial clone would fetch). */
const CLOSED = {
	GIT_CONFIG_NOSYSTEM: "1",
	GIT_CONFIG_GLOBAL: "/dev/null",
	// Git ends when a config says "~/…" and there is no HOME; below this one there can be no file.
	HOME: "/dev/null",
	GIT_ALLOW_PROTOCOL: "none",
	GIT_NO_LAZY_FETCH: "1",
};

function environment(names: readonly string[]): Record<string, string> {
	const chosen: Record<string, string> = {
		LC_ALL: "C",
		GIT_OPTIONAL_LOCKS: "0",
		GIT_ATTR_NOSYSTEM: "1",
		GIT_PAGER: "cat",
		GIT_TERMINAL_PROMPT: "0",
	};
	for (const name of names) {
		const value = process.env[name];
		if (value !== undefined) chosen[name] = value;
	}
	// Git is started in the repository: a relative entry would find the repository's own programs.
	chosen.PATH = (chosen.PATH ?? "/usr/bin:/bin").split(delimiter).filter(isAbsolute).join(delimiter);
	return chosen;
}

async function run(
	cwd: string,
	words: readonly string[],
	env: Record<string, string>,
	{ git, step, signal }: GitSettings,
): Promise<GitAnswer> {
	stopIfAborted(signal, step);
	const program = git.includes("/") ? resolve(git) : git;
	const child = spawn(program, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"], signal, killSignal: "SIGKILL" });
	const stdout: Buffer[] = [];
	const stderr: Buffer[] = [];
	child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
	child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
	let failure: unknown;
	child.on("error", (thrown) => {
		failure = thrown;
	});
	const exitCode = await new Promise<number | null>((settle) => child.on("close", settle));
	stopIfAborted(signal, step);
	if (failure !== undefined) {
		const missing = hasErrno(failure, "ENOENT", "EACCES");
		throw new SandboxerError({
			code: "preflight",
			message: missing
				? `"${git}" was not found or cannot be started, and ${step} needs it.`
				: `"${git}" could not be started for ${step}.`,
			hint: "Install git, or put its folder on PATH.",
			cause: failure,
		});
	}
	const complaint = Buffer.concat(stderr).toString("utf8").trim();
	const isForeign = exitCode !== 0 && /dubious ownership|unsafe repository/.test(complaint);
	return { exitCode, stdout: Buffer.concat(stdout), stderr: complaint, isForeign };
}

/** The folders that the machine's and the person's git settings declare safe, in git's order. Read outside of any repository. */
async function safeDirectories(settings: GitSettings): Promise<readonly string[]> {
	const env = environment([
		"PATH",
		"HOME",
		"XDG_CONFIG_HOME",
		"GIT_CONFIG_GLOBAL",
		"GIT_CONFIG_SYSTEM",
		"GIT_CONFIG_NOSYSTEM",
	]);
	const found: string[] = [];
	for (const scope of ["--system", "--global"]) {
		const answer = await run(
			"/",
			["config", scope, "--includes", "--type=path", "-z", "--get-all", "safe.directory"],
			env,
			settings,
		);
		if (answer.exitCode === 0) found.push(...answer.stdout.toString("utf8").split("\0").slice(0, -1));
	}
	return found;
}

/**
 * Runs git in a directory so that nothing in the repository starts another program: no file system
 * monitor, no hooks, no pager, no fetch. Of the person's settings `safe.directory` counts, and only when
 * git asks for it.
 *
 * @throws {@link SandboxerError} `preflight` when there is no git, `aborted`. A failure of git itself is an answer.
 */
export async function runGit(cwd: string, words: readonly string[], settings: GitSettings): Promise<GitAnswer> {
	// Git takes SUDO_UID for the real user where root runs it: who calls sudo keeps the right to read their own repository.
	const env = { ...environment(["PATH", "SUDO_UID"]), ...CLOSED };
	const answer = await run(cwd, [...HARMLESS, ...words], env, settings);
	if (!answer.isForeign) return answer;
	const safe = await safeDirectories(settings);
	if (safe.length === 0) return answer;
	return run(
		cwd,
		[...HARMLESS, ...safe.flatMap((directory) => ["-c", `safe.directory=${directory}`]), ...words],
		env,
		settings,
	);
}
