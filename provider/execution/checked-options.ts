import { posix } from "node:path";
import { Readable } from "node:stream";
import { SandboxerError } from "../errors";
import { refusalOfVariable } from "./environment";
import type { Command, ExecuteOptions } from "./types";

/** Where every backend has the workspace, inside. */
export const WORKSPACE = "/workspace";

const DEFAULT_TIMEOUT_SECONDS = 300;
/** 7 days; well below what a timer of Node can hold (2^31 ms). */
const MAX_TIMEOUT_SECONDS = 7 * 24 * 3600;
const DEFAULT_OUTPUT_BYTES = 1024 * 1024;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** What was asked for, defaults filled in. */
export interface CheckedOptions {
	readonly command: Pick<Command, "argv" | "cwd" | "user" | "env" | "stdin">;
	readonly refs: readonly string[];
	readonly timeoutSeconds: number;
	readonly maxOutputBytes: number;
}

/** @throws SandboxerError `invalid`, with the field and its value. Nothing was started then. */
export function checkedOptions(sandboxId: string, argv: readonly string[], options: ExecuteOptions): CheckedOptions {
	const refuse = (field: string, reason: string): never => {
		throw new SandboxerError({
			code: "invalid",
			message: `${field} ${reason}.`,
			hint: `Nothing was started in sandbox ${sandboxId}.`,
			details: { sandbox_id: sandboxId, field },
		});
	};
	const { credentialRouteRefs = [], executionContext = {} } = options;
	const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, maxOutputBytes = DEFAULT_OUTPUT_BYTES } = options;
	const { cwd = ".", env = {}, stdin, user = "sandbox" } = executionContext;
	if (!Array.isArray(argv) || argv.length === 0 || argv.some((word) => typeof word !== "string"))
		refuse("command", 'must be a list of words, the program first, such as ["git", "status"]');
	if (argv[0] === "") refuse("command", "begins with an empty word");
	if (argv.some((word) => word.includes("\0"))) refuse("command", "has a NUL in one of its words");
	if (!(timeoutSeconds > 0 && timeoutSeconds <= MAX_TIMEOUT_SECONDS))
		refuse(
			"timeoutSeconds",
			`is ${timeoutSeconds}; it must be more than 0 and at most ${MAX_TIMEOUT_SECONDS} (7 days)`,
		);
	if (!(Number.isInteger(maxOutputBytes) && maxOutputBytes >= 0 && maxOutputBytes <= MAX_OUTPUT_BYTES))
		refuse("maxOutputBytes", `is ${maxOutputBytes}; it must be a whole number from 0 to ${MAX_OUTPUT_BYTES} (64 MiB)`);
	if (user !== "sandbox" && user !== "root")
		refuse("executionContext.user", `is ${JSON.stringify(user)}; it must be "sandbox" or "root"`);
	for (const [name, value] of Object.entries(env)) {
		const refusal = refusalOfVariable(name, value);
		if (refusal !== undefined) refuse(`executionContext.env.${name}`, refusal);
	}
	const folder = posix.resolve(WORKSPACE, cwd);
	if (cwd.includes("\0") || (folder !== WORKSPACE && !folder.startsWith(`${WORKSPACE}/`)))
		refuse("executionContext.cwd", `is ${JSON.stringify(cwd)}, which is not inside the workspace (${WORKSPACE})`);
	return {
		command: { argv, cwd: folder, user, env, stdin: stream(stdin) },
		refs: credentialRouteRefs,
		timeoutSeconds,
		maxOutputBytes,
	};
}

function stream(stdin: string | Uint8Array | Readable | undefined): Readable | undefined {
	if (stdin === undefined || stdin instanceof Readable) return stdin;
	return Readable.from([Buffer.from(stdin as Uint8Array)]);
}
