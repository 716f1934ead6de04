import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { parseJson } from "../../provider/documents/parse-json";
import { SandboxerError } from "../../provider/errors";
import { findProgram, run } from "../../provider/transport";
import type { SettingValues } from "./settings";

/** How long pulumi may take to tell what a stack holds. */
const TIMEOUT_SECONDS = 120;
const MAX_STATE_BYTES = 512 * 1024 * 1024;

/** A sandbox as a stack's state has it. */
export interface StackSandbox {
	/** Of its resource. */
	readonly urn: string;
	/** Of the sandbox; empty where none was made. */
	readonly id: string;
	/** As the state has it: a secret one cannot be read. */
	readonly handle: unknown;
}

const stateSchema = z.object({
	deployment: z.object({
		resources: z
			.array(
				z.looseObject({
					urn: z.string(),
					type: z.string(),
					/** An earlier one, which a replacement has not removed yet. */
					delete: z.boolean().optional(),
					id: z.string().optional(),
					outputs: z.record(z.string(), z.unknown()).optional(),
				}),
			)
			.optional(),
	}),
});
const configSchema = z.record(z.string(), z.object({ value: z.string().optional() }));

/** What one stack says, by the pulumi command line. */
export class Stack {
	constructor(
		readonly name: string,
		private readonly folder: string,
		private readonly signal: AbortSignal,
	) {}

	/** The sandboxes in its state, whether or not the program exports anything of them. */
	async sandboxes(): Promise<StackSandbox[]> {
		const state = await this.ask(stateSchema, ["stack", "export"]);
		return (state.deployment.resources ?? [])
			.filter(({ type, outputs, delete: replaced }) => replaced !== true && isSandbox(type, outputs?.extension))
			.map(({ urn, id = "", outputs }) => ({ urn, id, handle: outputs?.handle }));
	}

	/** Its settings of this package. */
	async settings({ withSecrets }: { readonly withSecrets: boolean }): Promise<SettingValues> {
		const config = await this.ask(configSchema, ["config", "--json", ...(withSecrets ? ["--show-secrets"] : [])]);
		const known = Object.entries(config).flatMap(([key, { value }]) =>
			key.startsWith("sandboxer:") && value !== undefined ? [[key, value] as const] : [],
		);
		return Object.fromEntries(known);
	}

	private async ask<T>(schema: z.ZodType<T>, args: readonly string[]): Promise<T> {
		const { PATH = "" } = process.env;
		if (findProgram("pulumi", PATH) === undefined) {
			throw new SandboxerError({
				code: "preflight",
				message: `pulumi was not found on PATH, so stack ${this.name} cannot be read.`,
				hint: "Install it, or name the sandbox by its id and leave out --stack.",
			});
		}
		const { exitCode, stdout, stderr } = await run(
			"pulumi",
			[...args, "--stack", this.name, "--cwd", this.folder, "--non-interactive", "--color=never"],
			{
				env: Object.fromEntries(Object.entries(process.env).filter((entry) => entry[1] !== undefined)) as SettingValues,
				signal: this.signal,
				timeoutSeconds: TIMEOUT_SECONDS,
				maxOutputBytes: MAX_STATE_BYTES,
			},
		);
		if (exitCode !== 0) throw failed(this.name, args, exitCode, stderr);
		const parsed = schema.safeParse(parseJson(stdout));
		if (parsed.success) return parsed.data;
		// The output may hold secrets: it is not told.
		throw new SandboxerError({
			code: "unknown",
			message: `pulumi ${args[0]} of stack ${this.name} answered in a form that is not known.`,
		});
	}
}

/** `pulumi-nodejs:dynamic/sandboxer:ComposeSsh` is of ext.compose-ssh; a child, such as a snapshot, is of none. */
function isSandbox(type: string, extension: unknown): boolean {
	const [, name] = /^pulumi-nodejs:dynamic\/sandboxer:(\w+)$/.exec(type) ?? [];
	const plain = (text: string) => text.replaceAll("-", "").toLowerCase();
	return name !== undefined && typeof extension === "string" && plain(name) === plain(extension.replace(/^ext\./, ""));
}

function failed(stack: string, args: readonly string[], exitCode: number | null, stderr: string): SandboxerError {
	const said = stderr.trim().replace(/^error: /, "");
	return new SandboxerError({
		code: "unknown",
		message: `pulumi ${args.slice(0, 2).join(" ")} of stack ${stack} ended with ${exitCode}: ${said === "" ? "it said nothing" : said}`,
		hint: "Run it in the stack's project, or name that folder with -C; pulumi needs its login and passphrase as for pulumi stack.",
	});
}

/**
 * The folder of the program of the project that a folder lies in: relative paths of its settings start there, as they
 * do when pulumi runs it. The folder itself where there is no project.
 */
export function programFolder(from: string): string {
	for (let folder = resolve(from); ; folder = dirname(folder)) {
		const file = ["Pulumi.yaml", "Pulumi.yml"].map((name) => join(folder, name)).find((path) => existsSync(path));
		if (file !== undefined) {
			const { main } = z.looseObject({ main: z.string().default(".") }).parse(parse(readFileSync(file, "utf8")));
			const program = resolve(folder, main);
			return statSync(program, { throwIfNoEntry: false })?.isDirectory() ? program : dirname(program);
		}
		if (dirname(folder) === folder) return from;
	}
}
