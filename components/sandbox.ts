import * as pulumi from "@pulumi/pulumi";
import type { Controls, Handle, Json, Lease, Reachability } from "../provider/contract/types";
import { SandboxResource, typeToken } from "../provider/resources/sandbox-resource";
import { Execution, type ExecutionArgs } from "./execution";
import { OwnComponent } from "./own-component";
import { ownerOf } from "./owner";
import { profileOf } from "./profile-reference";
import type { SandboxArgs } from "./sandbox-args";
import { Snapshot, type SnapshotArgs } from "./snapshot";

/** An existing sandbox, for {@link Sandbox.get}. */
class Existing {
	constructor(
		readonly id: pulumi.Input<string>,
		readonly extension: string,
	) {}
}

/** Outputs of the resource that are the component's too. */
const OUTPUTS = [
	"sandboxId",
	"extension",
	"phase",
	"reachability",
	"workspaceDir",
	"handle",
	"lease",
	"quote",
	"route",
] as const satisfies readonly (keyof SandboxResource)[];

/** Options of a component that its child must be given by hand: the engine hands down the rest. */
const FORWARDED = ["ignoreChanges", "replaceOnChanges", "deleteBeforeReplace", "customTimeouts"] as const;

/**
 * A sandbox for a coding agent or a CI job, made by the extension that its profile names.
 *
 * @example
 * ```ts
 * import { Sandbox } from "pulumi-sandboxer";
 *
 * const box = new Sandbox("box", { profile: "bwrap-local", inputs: { repo: "./app" }, ttl: "2h" });
 *
 * export const id = box.sandboxId;
 * export const workspace = box.workspaceDir;
 * ```
 */
export class Sandbox extends OwnComponent {
	/** Names the sandbox on its backend. */
	declare readonly sandboxId: pulumi.Output<string>;
	/** The extension that made it, such as "ext.bwrap". */
	declare readonly extension: pulumi.Output<string>;
	/** "ready"; after a failed up "waiting"; after a refresh also "gone", "expired" or "altered". */
	declare readonly phase: pulumi.Output<string>;
	/** How it is reached: `host`, and by extension `ssh`, `remote_dir`, `compose_project`, … Nothing secret. */
	declare readonly reachability: pulumi.Output<Reachability>;
	/** Its workspace as the owner on its host sees it. */
	declare readonly workspaceDir: pulumi.Output<string>;
	/** What names it for the library and the command line. Nothing secret. */
	declare readonly handle: pulumi.Output<Handle>;
	/** `readyAt` and `expiresAt`, UTC, ISO 8601. */
	declare readonly lease: pulumi.Output<Lease>;
	/** What it costs, in USD. */
	declare readonly quote: pulumi.Output<Json>;
	/** Which extension was chosen, and why. */
	declare readonly route: pulumi.Output<Json>;
	/** Promise by promise: enforced, enforced-with-gaps or unsupported, as proved by probes inside. */
	readonly controls: pulumi.Output<Controls>;
	/** Secret. What is needed to reach it; empty where nothing is. */
	readonly credentials: pulumi.Output<Record<string, string>>;
	readonly #resource: SandboxResource;

	constructor(name: string, args: SandboxArgs, opts: pulumi.ComponentResourceOptions = {}) {
		const existing = (args as unknown) instanceof Existing ? (args as unknown as Existing) : undefined;
		refuseImport(name, opts);
		super("sandboxer:index:Sandbox", name, opts);
		this.#resource = existing === undefined ? this.made(name, args, opts) : this.found(name, existing);
		for (const key of OUTPUTS) Object.assign(this, { [key]: this.#resource[key] });
		this.controls = this.#resource.controls.apply((text) => parsed(text) as Controls);
		this.credentials = pulumi.secret(this.#resource.credentials.apply((given) => given ?? {}));
		const { sandboxId, extension, phase, lease } = this;
		this.registerOutputs({ sandboxId, extension, phase, lease });
	}

	/**
	 * A command that is run in it: `new Execution(name, { sandbox: this, … })`.
	 *
	 * @example
	 * ```ts
	 * box.execution("install", { command: ["npm", "ci"] });
	 * ```
	 */
	execution(name: string, args: ExecutionArgs, opts?: pulumi.CustomResourceOptions): Execution {
		return new Execution(name, { ...args, sandbox: this }, opts);
	}

	/**
	 * Its workspace, kept in an archive that outlives it: `new Snapshot(name, { sandbox: this, … })`.
	 *
	 * @example
	 * ```ts
	 * const { snapshot } = box.snapshot("release", { keep: "30d", triggers: [version] });
	 * ```
	 */
	snapshot(name: string, args: SnapshotArgs = {}, opts?: pulumi.CustomResourceOptions): Snapshot {
		return new Snapshot(name, { ...args, sandbox: this }, opts);
	}

	/**
	 * An existing sandbox, by its id, whoever made it. It is read, never changed or removed.
	 *
	 * @example
	 * ```ts
	 * const box = Sandbox.get("box", "demo", { extension: "ext.bwrap" });
	 * ```
	 */
	static get(
		name: string,
		id: pulumi.Input<string>,
		{ extension, ...opts }: { extension: string } & pulumi.ComponentResourceOptions,
	): Sandbox {
		return new Sandbox(name, new Existing(id, extension) as unknown as SandboxArgs, opts);
	}

	private made(name: string, args: SandboxArgs, opts: pulumi.ComponentResourceOptions): SandboxResource {
		const { profile, extension } = profileOf(name, args.profile);
		const owner = ownerOf(name, typeToken(extension), this);
		const forwarded = Object.fromEntries(
			FORWARDED.filter((key) => key in opts).map((key) => [key, (opts as Record<string, unknown>)[key]]),
		);
		const timeouts = args.timeouts ?? opts.customTimeouts;
		return new SandboxResource(
			extension,
			name,
			{ ...args, profile, timeouts, replaceOnChanges: opts.replaceOnChanges, owner },
			{ ...forwarded, parent: this },
		);
	}

	private found(name: string, { id, extension }: Existing): SandboxResource {
		return new SandboxResource(extension, name, undefined, { id, parent: this });
	}
}

/** Undefined where there is none, as after a failed create. */
function parsed(text: string | undefined): unknown {
	return text === undefined ? undefined : JSON.parse(text);
}

function refuseImport(name: string, opts: pulumi.ComponentResourceOptions): void {
	if (!("import" in opts) || opts.import === undefined) return;
	throw new pulumi.RunError(
		`Sandbox "${name}": the option \`import\` cannot work for a sandbox. To take one over, give its id and adopt it: new Sandbox("${name}", { sandboxId: "${String(opts.import)}", adopt: true, … }).`,
	);
}
