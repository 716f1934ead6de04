import type * as pulumi from "@pulumi/pulumi";
import { ChildResource, type SandboxReference } from "./child-resource";

/** What a command is run with. */
export interface ExecutionArgs {
	/** The program and its arguments; no shell, unless it names one: ["sh", "-c", "…"]. */
	readonly command: pulumi.Input<pulumi.Input<string>[]>;
	/** Inside the workspace, relative to it. Default: the workspace. */
	readonly cwd?: pulumi.Input<string>;
	/** Beside the sandbox's own. No secrets: those go by `credentials`. */
	readonly env?: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>;
	/** Default: nothing. */
	readonly stdin?: pulumi.Input<string>;
	/** `sandbox` (uid 1000, the default) or `root`: the sandbox's own, without capabilities. */
	readonly user?: pulumi.Input<"sandbox" | "root">;
	/** References of credentials, as the profile's `setup.secretRefs` or the setting `sandboxer:credentials` route them. */
	readonly credentials?: pulumi.Input<pulumi.Input<string>[]>;
	/** Default "5m", at most "7d". */
	readonly timeout?: pulumi.Input<string>;
	/** An exit code other than 0 is a result (`exitCode`), not a failure. Default false. */
	readonly mayFail?: pulumi.Input<boolean>;
	/** Another value makes it run again. */
	readonly triggers?: pulumi.Input<pulumi.Input<string | number | boolean>[]>;
}

/** One output of a command, in full. */
export interface ExecutionOutput {
	/** On the machine that ran the program; removed with the resource. */
	readonly file: string;
	readonly sha256: string;
	readonly bytes: number;
	readonly truncated: boolean;
}

const RESULTS = ["exitCode", "stdout", "stderr", "output", "ranAt", "durationMs"] as const;

/**
 * A command that is run in a sandbox once, when the resource is made; again in another sandbox, with another
 * command, or when `triggers` change.
 *
 * @example
 * ```ts
 * const install = new Execution("install", { sandbox: box, command: ["npm", "ci"], timeout: "10m" });
 * new Execution("test", { sandbox: box, command: ["npm", "test"] }, { dependsOn: install });
 * ```
 */
export class Execution extends ChildResource {
	declare readonly exitCode: pulumi.Output<number>;
	/** The last 4 KiB of standard output, values of credentials masked; all of it is in `output.stdout.file`. */
	declare readonly stdout: pulumi.Output<string>;
	declare readonly stderr: pulumi.Output<string>;
	declare readonly output: pulumi.Output<{ readonly stdout: ExecutionOutput; readonly stderr: ExecutionOutput }>;
	/** UTC, ISO 8601. */
	declare readonly ranAt: pulumi.Output<string>;
	declare readonly durationMs: pulumi.Output<number>;

	constructor(
		name: string,
		args: ExecutionArgs & { readonly sandbox: SandboxReference },
		opts: pulumi.CustomResourceOptions = {},
	) {
		super({ type: "Execution", results: RESULTS }, name, args, opts);
	}
}
