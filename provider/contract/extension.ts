import type { z } from "zod";
import { type CredentialSource, resolveCredentials } from "../credentials";
import type { ExtensionDeclaration } from "../documents/extension";
import type { Profile } from "../documents/profile";
import { SandboxerError } from "../errors";
import { CommandOutput, checkedOptions, MaskedOutput } from "../execution";
import { assertHeldFor } from "./same-owner";
import type {
	Attribution,
	Call,
	CleanupReport,
	Command,
	CommandEnd,
	Controls,
	ExecuteOptions,
	ExecutionResult,
	Finding,
	Handle,
	LeaseCall,
	LocateCall,
	Located,
	MeterQuote,
	Owner,
	Provisioned,
	ProvisionRequest,
	Ready,
	SnapshotMeta,
	SnapshotRequest,
} from "./types";

/** What an extension is given when it is made, once per process. */
export interface ExtensionHost {
	readonly declaration: ExtensionDeclaration;
	/** The declaration's `config`, overlaid by stack config `sandboxer:<name>`; not yet validated. */
	readonly config: Readonly<Record<string, unknown>>;
	/** The process's environment, read at the moment of use. */
	environment(name: string): string | undefined;
	/** Credentials by reference, their values read at the moment of use. */
	readonly credentials: CredentialSource;
	/** Milliseconds since 1970, UTC. */
	now(): number;
}

/** A problem with a value, found before anything is started. */
export interface Problem {
	/** The field, such as `inputs.repo`. */
	readonly field: string;
	/** What is wrong and how to mend it; continues a sentence that begins with the field. Never a secret. */
	readonly reason: string;
}

/** The inputs of a sandbox, as validated by `inputsSchema`. */
export type ExtensionInputs = Readonly<Record<string, unknown>>;

/**
 * One backend. It implements `provision`, `waitReady` and `teardown` and opts in to the rest: everything
 * it does not implement fails closed.
 *
 * @typeParam Inputs - What its `inputsSchema` yields.
 *
 * @example
 * ```ts
 * export class MyBackend extends SandboxExtension {
 *   async provision(profile, inputs, host, request) { … }
 *   async waitReady(handle, call) { … }
 *   async teardown(handle, call) { … }
 * }
 * ```
 */
export abstract class SandboxExtension<Inputs extends ExtensionInputs = ExtensionInputs> {
	constructor(protected readonly host: ExtensionHost) {}

	/** What its YAML file says of it. */
	get declaration(): ExtensionDeclaration {
		return this.host.declaration;
	}

	/** The inputs this backend takes. Without one it takes none. */
	readonly inputsSchema: z.ZodType<Inputs> | undefined = undefined;

	/**
	 * Makes the sandbox, or adopts it. Idempotent per sandbox id, under an exclusive lock that ends with the
	 * process that holds it. Writes id, owner and lease at the backend before, or with, the first side effect.
	 * Same owner and digest: adopts. Same owner, another digest, alive: refuses. A foreign owner: refuses.
	 * On failure it removes what this call made; what it could not remove stands in the error's
	 * `details.leftover` as a handle.
	 *
	 * @param host - Where to make it, as placement chose ("local" for this machine).
	 */
	abstract provision(profile: Profile, inputs: Inputs, host: string, request: ProvisionRequest): Promise<Provisioned>;

	/**
	 * Waits, bounded, until the sandbox can be used, and proves its controls. Observes, never repairs.
	 *
	 * @throws SandboxerError `gone` where it is proved that nothing is left, `remains` where it is dead but
	 * something of it is still there (`details.expired`: whether its lease ended it, if that is known there), `control` where a control does not hold, `timeout`, `unknown`.
	 */
	abstract waitReady(handle: Handle, call: Call): Promise<Ready>;

	/** Removes everything of the sandbox: looks, removes, looks again. Idempotent and legal from every state. */
	abstract teardown(handle: Handle, call: Call): Promise<CleanupReport>;

	/** The sandboxes of an owner, or of an id, on the backend: what makes a lost create findable. */
	locate(
		_query: { readonly owner: Owner } | { readonly sandboxId: string } | Record<never, never>,
		_call: LocateCall,
	): Promise<Located[]> {
		return this.refuse("find sandboxes on its backend", "locate");
	}

	/**
	 * Takes a sandbox over, by compare-and-set: the handle must be of its present holder. Returns the handle of
	 * the new holder; with the old one nothing can be done any more.
	 */
	claim(_handle: Handle, _attribution: Attribution, _call: Call): Promise<Handle> {
		return this.refuse("hand a sandbox over to another owner", "claim");
	}

	/**
	 * What the backend cannot do of what the profile asks for, judged offline (preview calls it; it touches
	 * nothing, and what is not known yet is absent). The default refuses every restriction that an extension must enforce itself.
	 */
	problems(profile: Profile, _inputs: Inputs): Problem[] {
		const refusals: [boolean, string, string][] = [
			[profile.network.egress !== undefined, "network.egress", "an egress list"],
			[profile.resources.cpu !== undefined, "resources.cpu", "a cpu limit"],
			[profile.resources.memory_mb !== undefined, "resources.memory_mb", "a memory limit"],
			[profile.ttl.idle_reap !== undefined, "profile.ttl.idle_reap", "an idle limit"],
		];
		return refusals
			.filter(([asked]) => asked)
			.map(([, field, what]) => ({
				field,
				reason: `asks for ${what}, which ${this.host.declaration.id} does not enforce. Leave it out, or use an extension that does.`,
			}));
	}

	/** What is known offline of the controls, for the preview. `undefined` for what only the host can tell. */
	plannedControls(_profile: Profile): Controls {
		return {};
	}

	/** The cost, for metered extensions. `durationSeconds` is the lease. */
	estimateCost(_profile: Profile, _inputs: Inputs, _durationSeconds: number): MeterQuote {
		throw this.refusal("estimate a cost", "estimateCost");
	}

	/** What was really used, in USD; `undefined` where the vendor does not say. */
	meterActual(_handle: Handle, _durationSeconds: number): Promise<number | undefined> {
		return this.refuse("meter a sandbox", "meterActual");
	}

	/**
	 * Moves the deadline, either way, and returns the one granted (UTC, ISO 8601): at most the longest lease. On
	 * return it is in force where the sandbox lives. A lease that is over by the clock of that place is not renewed.
	 *
	 * @param expiresAt - UTC, ISO 8601; undefined: as it is, unless the longest lease is shorter now.
	 * @throws SandboxerError `gone` where the lease was over first, `unknown` where that is not certain.
	 */
	extendLease(_handle: Handle, _expiresAt: string | undefined, _call: LeaseCall): Promise<string> {
		return this.refuse("change a lease once it has begun", "extendLease");
	}

	supportsLeaseExtension(): boolean {
		return false;
	}

	/**
	 * Removes a sandbox whose lease is over by the clock of its place, judged under the same exclusion as
	 * `extendLease`: of a renewal and an expiry one wins. `undefined` where it is not over.
	 */
	expire(_handle: Handle, _call: Call): Promise<CleanupReport | undefined> {
		return this.refuse("expire a sandbox", "expire");
	}

	/** What is on the backend that no sandbox accounts for. Looks only. */
	inventory(_call: Call): Promise<Finding[]> {
		return this.refuse("list what was left behind", "inventory");
	}

	/** Removes one thing that `inventory` found, after another look at it. */
	reap(_finding: Finding, _call: Call): Promise<CleanupReport> {
		return this.refuse("remove what was left behind", "reap");
	}

	supportsSnapshots(): boolean {
		return false;
	}

	/**
	 * Takes a snapshot; the sandbox stays ready. Nothing of it can be seen before it is complete. One of that id
	 * that is there already is a `conflict`, unless it is this very owner's of this very life of the sandbox: then
	 * an earlier call's answer was lost, and it is the answer.
	 */
	snapshot(_handle: Handle, _request: SnapshotRequest): Promise<SnapshotMeta> {
		return this.refuse("take snapshots", "snapshot");
	}

	/** The snapshots there are, those of a sandbox or all. */
	snapshots(_query: { readonly sandboxId?: string }, _call: Call): Promise<SnapshotMeta[]> {
		return this.refuse("list snapshots", "snapshots");
	}

	/** Removes a stored snapshot. That there was none is fine. */
	removeSnapshot(_snapshot: SnapshotMeta, _call: Call): Promise<CleanupReport> {
		return this.refuse("remove snapshots", "removeSnapshot");
	}

	/**
	 * `provision`, with the workspace out of a snapshot. Every member is checked first: one bad member refuses
	 * the whole, nothing is written, no sandbox is made.
	 */
	restoreFromSnapshot(
		_profile: Profile,
		_snapshot: SnapshotMeta,
		_inputs: Inputs,
		_host: string,
		_request: ProvisionRequest,
	): Promise<Provisioned> {
		return this.refuse("restore snapshots", "restoreFromSnapshot");
	}

	supportsExecution(): boolean {
		return false;
	}

	/**
	 * Runs a command (argv, no shell) in the sandbox. The same for every backend: what was asked for is checked
	 * and bounded here, credentials are resolved here; a backend implements `runCommand`.
	 *
	 * @throws SandboxerError `invalid` for options, `unsupported`, `not-started` where the command could not be
	 * started, `conflict` for a handle that is not of the live sandbox, `aborted`.
	 */
	async execute(
		handle: Handle,
		command: readonly string[],
		options: ExecuteOptions,
		{ signal }: Pick<Call, "signal">,
	): Promise<ExecutionResult> {
		if (!this.supportsExecution()) return this.refuse("run commands (execution)", "runCommand");
		const {
			command: asked,
			refs,
			timeoutSeconds,
			maxOutputBytes,
		} = checkedOptions(handle.sandbox_id, command, options);
		const calling = { signal, timeoutSeconds, progress: () => undefined };
		let found: Promise<Located[]> | undefined;
		const located = () => {
			found ??= this.locate({ sandboxId: handle.sandbox_id }, calling);
			return found;
		};
		if (options.owner !== undefined) assertHeldFor(handle.sandbox_id, options.owner, await located());
		const { env, files } = await resolveCredentials(handle.sandbox_id, refs, this.host.credentials, async () =>
			(await located()).flatMap(({ credentialRoutes }) => credentialRoutes),
		);
		const output = new CommandOutput(maxOutputBytes, options.onOutput);
		const secrets = options.maskCredentials === true ? [...Object.values(env), ...Object.values(files)] : [];
		const masked = secrets.length === 0 ? output : new MaskedOutput(output, secrets);
		const begun = performance.now();
		const { exitCode, timedOut } = await this.runCommand(
			handle,
			{
				...asked,
				env: { ...asked.env, ...env },
				secretFiles: files,
				output: (stream, chunk) => masked.take(stream, chunk),
			},
			calling,
		);
		const rest = Promise.resolve(masked.end());
		// Beyond the limit nobody is waited for.
		if (timedOut) rest.catch(() => undefined);
		else await rest;
		const { correlationId } = options.executionContext ?? {};
		return {
			exitCode,
			signal: exitCode === null ? "SIGKILL" : null,
			timedOut,
			stdout: output.stdout.excerpt(),
			stderr: output.stderr.excerpt(),
			durationMs: performance.now() - begun,
			...(correlationId === undefined ? {} : { correlationId }),
		};
	}

	/**
	 * Runs one command in the sandbox, with its whole confinement, as a process tree of its own that ends with
	 * it. The handle is checked against the live sandbox first. What it writes goes to `command.output`.
	 */
	runCommand(_handle: Handle, _command: Command, _call: Call): Promise<CommandEnd> {
		return this.refuse("run commands (execution)", "runCommand");
	}

	private refusal(what: string, method: string): SandboxerError {
		const { id } = this.host.declaration;
		return new SandboxerError({
			code: "unsupported",
			message: `${id} cannot ${what}.`,
			hint: `Use an extension that implements ${method}.`,
			details: { extension: id, method },
		});
	}

	private refuse(what: string, method: string): Promise<never> {
		return Promise.reject(this.refusal(what, method));
	}
}
