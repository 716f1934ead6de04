import {
	type Attribution,
	type Call,
	type CleanupReport,
	type Command,
	type CommandEnd,
	type Controls,
	type ExtensionHost,
	type Finding,
	type Handle,
	isSameOwner,
	type LeaseCall,
	type LocateCall,
	type Located,
	type Owner,
	type Problem,
	type Profile,
	type Provisioned,
	type ProvisionRequest,
	type Ready,
	SandboxExtension,
	type SnapshotMeta,
	type SnapshotRequest,
} from "../../provider/contract";
import { ProcessTable } from "../../provider/identity";
import { leaseTerms } from "../../provider/lease/lease-seconds";
import { directoriesOf } from "./config";
import { runCommand } from "./entry/run-command";
import { expire } from "./expire";
import { extendLease } from "./extend";
import { claim, locate, locateAll } from "./hold";
import { idleVerdict } from "./idle/idle-limit";
import { type BwrapInputs, bwrapInputsSchema } from "./inputs";
import { inventory, reap } from "./inventory/inventory";
import { observe } from "./observe";
import { DEFAULT_PATH, findPrograms, type Programs } from "./preflight";
import { StartedProbes } from "./probes/started-probes";
import { provision } from "./provision";
import type { Site } from "./site";
import { snapshotSource } from "./snapshots/restore";
import { removeSnapshot, storedSnapshots } from "./snapshots/stored";
import { takeSnapshot } from "./snapshots/take";
import { teardown } from "./teardown";
import { repoSource } from "./workspace-source";

/** Sandboxes of Linux namespaces on this machine, by bubblewrap. */
export class BwrapExtension extends SandboxExtension<BwrapInputs> {
	override readonly inputsSchema = bwrapInputsSchema;
	private readonly site: Site;

	constructor(host: ExtensionHost) {
		super(host);
		const path = host.environment("PATH") ?? DEFAULT_PATH;
		let programs: Programs | undefined;
		this.site = {
			...directoriesOf(host),
			path,
			table: new ProcessTable(),
			programs: () => {
				programs ??= findPrograms(path);
				return programs;
			},
			probes: new StartedProbes(),
			clock: "/proc/uptime",
			now: () => host.now(),
		};
	}

	override provision(
		profile: Profile,
		inputs: BwrapInputs,
		_host: string,
		request: ProvisionRequest,
	): Promise<Provisioned> {
		return provision(this.site, profile, () => Promise.resolve(repoSource(inputs)), request);
	}

	override waitReady(handle: Handle, call: Call): Promise<Ready> {
		return observe(this.site, handle, call);
	}

	override teardown(handle: Handle, call: Call): Promise<CleanupReport> {
		return teardown(this.site, handle, call);
	}

	override async locate(
		query: { owner: Owner } | { sandboxId: string } | Record<never, never>,
		call: LocateCall,
	): Promise<Located[]> {
		if ("sandboxId" in query) return locate(this.site, query.sandboxId);
		const all = await locateAll(this.site, call);
		if ("owner" in query) return all.filter(({ owner }) => isSameOwner(owner, query.owner));
		return all;
	}

	override claim(handle: Handle, attribution: Attribution, call: Call): Promise<Handle> {
		return claim(this.site, handle, attribution, call);
	}

	override supportsLeaseExtension(): boolean {
		return true;
	}

	override extendLease(handle: Handle, expiresAt: string | undefined, call: LeaseCall): Promise<string> {
		return extendLease(this.site, handle, expiresAt, call);
	}

	override supportsExecution(): boolean {
		return true;
	}

	override runCommand(handle: Handle, command: Command, call: Call): Promise<CommandEnd> {
		return runCommand(this.site, handle, command, call);
	}

	override expire(handle: Handle, call: Call): Promise<CleanupReport | undefined> {
		return expire(this.site, handle, call);
	}

	override inventory(call: Call): Promise<Finding[]> {
		return inventory(this.site, call);
	}

	override reap(finding: Finding, call: Call): Promise<CleanupReport> {
		return reap(this.site, finding, call);
	}

	override supportsSnapshots(): boolean {
		return true;
	}

	override snapshot(handle: Handle, request: SnapshotRequest): Promise<SnapshotMeta> {
		return takeSnapshot(this.site, handle, request);
	}

	override snapshots(query: { readonly sandboxId?: string }): Promise<SnapshotMeta[]> {
		return storedSnapshots(this.site, query);
	}

	override removeSnapshot(snapshot: SnapshotMeta): Promise<CleanupReport> {
		return removeSnapshot(this.site, snapshot);
	}

	override restoreFromSnapshot(
		profile: Profile,
		snapshot: SnapshotMeta,
		inputs: BwrapInputs,
		_host: string,
		request: ProvisionRequest,
	): Promise<Provisioned> {
		return provision(this.site, profile, () => snapshotSource(this.site, snapshot, inputs, request), request);
	}

	override problems(profile: Profile, inputs: BwrapInputs): Problem[] {
		const refusals: [boolean, Problem][] = [
			[
				profile.network.egress !== undefined,
				{
					field: "network.egress",
					reason:
						"lists what stays reachable, which ext.bwrap cannot enforce. Use network.default deny or allow alone, or another extension.",
				},
			],
			[
				profile.reachability?.tunnel === "ssh",
				{
					field: "profile.reachability.tunnel",
					reason: 'is "ssh", but a bwrap sandbox has no ssh server. Leave it out.',
				},
			],
			[
				profile.workspace.mode === "empty" && inputs.repo !== undefined,
				{
					field: "inputs.repo",
					reason: 'is given, but the profile\'s workspace.mode is "empty". Leave out one of them.',
				},
			],
		];
		return refusals.filter(([asked]) => asked).map(([, problem]) => problem);
	}

	override plannedControls(profile: Profile): Controls {
		const { cpu, memory_mb } = profile.resources;
		const { idleSeconds: idle_seconds } = leaseTerms(profile.ttl);
		const idle = idleVerdict({
			network: profile.network.default,
			...(idle_seconds === undefined ? {} : { idle_seconds }),
		});
		return {
			isolation: { status: "enforced", note: "own namespaces, no capabilities, own user id" },
			network:
				profile.network.default === "deny"
					? { status: "enforced", note: "own loopback only" }
					: { status: "enforced-with-gaps", note: "the host's loopback and abstract sockets are reachable" },
			...(memory_mb === undefined
				? {}
				: {
						memory: {
							status: "enforced-with-gaps" as const,
							note: `${memory_mb} MiB, in sum where control groups can be made`,
						},
					}),
			...(cpu === undefined ? {} : { cpu: { status: "enforced" as const, note: `${cpu}, or refused` } }),
			...(idle === undefined ? {} : { idle }),
			disk: { status: "unsupported", note: "the workspace has no size limit" },
		};
	}
}
