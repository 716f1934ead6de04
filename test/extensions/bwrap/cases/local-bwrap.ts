import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BwrapExtension } from "../../../../extensions/bwrap/handler";
import { type BwrapRecord, readRecord } from "../../../../extensions/bwrap/record";
import type { Call, Handle, ProvisionRequest } from "../../../../provider/contract";
import { profileSchema } from "../../../../provider/documents/profile";
import type { Backend, SandboxOutputs } from "../../../../provider/lifecycle";
import { removeGroupsOf } from "../support/control-groups";

/** The extension itself, in this process, on a state folder of its own. */
export class LocalBwrap {
	readonly folder = mkdtempSync(join(tmpdir(), "sandboxer-local-"));
	readonly base = join(this.folder, "state", "bwrap");
	readonly extension: BwrapExtension;
	readonly said: string[] = [];
	readonly profile = profileSchema.parse({
		id: "profile.case",
		version: "1",
		extension: "ext.bwrap",
		isolation: { level: "process" },
	});
	private readonly handles: Handle[] = [];
	private readonly groups: { directory: string; sandboxId: string; cgroups: BwrapRecord["cgroups"] }[] = [];

	/** @param now - Milliseconds since 1970, UTC. */
	constructor(now = Date.now) {
		chmodSync(this.folder, 0o711);
		this.extension = new BwrapExtension({
			declaration: {
				id: "ext.bwrap",
				title: "bubblewrap",
				handler: "./handler:BwrapExtension",
				capabilities: { isolation_levels: ["process"], pricing_model: "self-hosted" },
			},
			config: { state_dir: join(this.folder, "state") },
			environment: (name) => process.env[name],
			credentials: { route: () => undefined, value: () => undefined },
			now,
		});
	}

	readonly call: Call = { signal: new AbortController().signal, timeoutSeconds: 60, progress: () => undefined };

	get backend(): Backend {
		const say = (message: string) => void this.said.push(message);
		return {
			extension: this.extension,
			signal: this.call.signal,
			now: Date.now,
			progress: () => undefined,
			info: say,
			warn: say,
		};
	}

	request(sandboxId: string, changes: Partial<ProvisionRequest> = {}): ProvisionRequest {
		const owner = { scope: "test", project: "p", stack: "s", urn: "urn:pulumi:s::p::t::box" };
		return { ...this.call, sandboxId, owner, digest: "d", ttlSeconds: 600, labels: {}, ...changes };
	}

	async make(sandboxId: string, changes: Partial<ProvisionRequest> = {}): Promise<Handle> {
		const { handle } = await this.extension.provision(this.profile, {}, "local", this.request(sandboxId, changes));
		this.handles.push(handle);
		const directory = join(this.base, sandboxId);
		const { cgroups } = (await readRecord(directory)) as BwrapRecord;
		this.groups.push({ directory, sandboxId, cgroups });
		return handle;
	}

	/** What a state holds of a sandbox, as far as read and remove look at it. */
	stateOf(handle: Handle, changes: Record<string, unknown> = {}): SandboxOutputs {
		return {
			sandboxId: handle.sandbox_id,
			handle,
			timeouts: {},
			lease: { readyAt: new Date().toISOString(), expiresAt: new Date(Date.now() + 600_000).toISOString() },
			...changes,
		} as unknown as SandboxOutputs;
	}

	async dispose(): Promise<void> {
		const left = await this.extension.locate({}, this.call);
		for (const handle of [...this.handles, ...left.map((located) => located.handle)]) {
			await this.extension.teardown(handle, this.call).catch(() => undefined);
		}
		for (const { directory, sandboxId, cgroups } of this.groups) await removeGroupsOf(directory, sandboxId, cgroups);
		rmSync(this.folder, { recursive: true, force: true });
	}
}
