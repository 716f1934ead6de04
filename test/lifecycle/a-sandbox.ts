import { z } from "zod";
import { type Handle, SandboxExtension } from "../../provider/contract";

/** An extension of no backend, for what is decided before one is reached. */
export class NowhereExtension extends SandboxExtension {
	override readonly inputsSchema = z.strictObject({ repo: z.string().optional(), size: z.number().default(1) });

	constructor(private readonly extendsLeases = true) {
		super({
			declaration: {
				id: "ext.nowhere",
				title: "Nowhere",
				handler: "./handler:NowhereExtension",
				capabilities: { isolation_levels: ["process"], pricing_model: "self-hosted" },
			},
			config: {},
			environment: () => undefined,
			credentials: { route: () => undefined, value: () => undefined },
			now: () => 0,
		});
	}

	override problems(): [] {
		return [];
	}

	override supportsLeaseExtension(): boolean {
		return this.extendsLeases;
	}

	override provision(): ReturnType<SandboxExtension["provision"]> {
		throw new Error("nothing may be provisioned here");
	}

	override waitReady(): ReturnType<SandboxExtension["waitReady"]> {
		throw new Error("nothing may be waited for here");
	}

	override teardown(_handle: Handle): ReturnType<SandboxExtension["teardown"]> {
		throw new Error("nothing may be torn down here");
	}
}

/** What the component sends for a small sandbox. */
export function asked(changes: Record<string, unknown> = {}): Record<string, unknown> {
	return {
		extension: "ext.nowhere",
		profile: {
			id: "profile.small",
			version: "1",
			extension: "ext.nowhere",
			isolation: { level: "process" },
			network: { default: "allow" },
			resources: { cpu: 2, memory_mb: 512 },
			ttl: { default: "1h", max: "4h" },
		},
		owner: { scope: "s", project: "p", stack: "dev", urn: "urn:pulumi:dev::p::sandboxer:index:Sandbox$t::box" },
		...changes,
	};
}
