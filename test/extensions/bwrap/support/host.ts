import type { Call, ExtensionHost, Owner, ProvisionRequest } from "../../../../provider/contract";
import { type Profile, type ProfileDocument, profileSchema } from "../../../../provider/documents/profile";
import type { Wish } from "./messages";

/** The bound of every call: enough for the slowest machine. */
const TIMEOUT_SECONDS = 120;

export const OWNER: Owner = {
	scope: "clone-1",
	project: "shop",
	stack: "dev",
	urn: "urn:pulumi:dev::shop::sandboxer:index:Sandbox::box",
};

export function bwrapHost(stateDir: string, environment: NodeJS.ProcessEnv): ExtensionHost {
	return {
		declaration: {
			id: "ext.bwrap",
			title: "bubblewrap",
			handler: "./handler:BwrapExtension",
			capabilities: { isolation_levels: ["process"], pricing_model: "self-hosted" },
		},
		config: { state_dir: stateDir },
		environment: (name) => environment[name],
		credentials: { route: () => undefined, value: () => undefined },
		now: Date.now,
	};
}

export function profile(changes: Partial<ProfileDocument> = {}): Profile {
	return profileSchema.parse({
		id: "profile.test",
		version: "1",
		extension: "ext.bwrap",
		isolation: { level: "process" },
		...changes,
	});
}

export function wish(changes: Partial<Wish> = {}): Wish {
	return { sandboxId: "box", profile: profile(), inputs: {}, ttlSeconds: 600, digest: "d-1", ...changes };
}

export function callFor(signal: AbortSignal): Call {
	return { signal, timeoutSeconds: TIMEOUT_SECONDS, progress: () => undefined };
}

export function requestFor({ sandboxId, ttlSeconds, digest }: Wish, signal: AbortSignal): ProvisionRequest {
	return { ...callFor(signal), sandboxId, owner: OWNER, digest, ttlSeconds, labels: {} };
}
