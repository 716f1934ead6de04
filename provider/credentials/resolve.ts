import { SandboxerError } from "../errors";
import type { CredentialRoute } from "./credential-route";
import { type CredentialSource, SECRET_PREFIX } from "./credential-source";

/** Values by where they go. Secret. */
export interface ResolvedCredentials {
	readonly env: Readonly<Record<string, string>>;
	readonly files: Readonly<Record<string, string>>;
}

/**
 * Reads the values of references, each by its route.
 *
 * @param declared - The routes that the sandbox's own profile declares; asked for only where the settings do not
 * name a reference.
 * @throws SandboxerError `invalid` for a reference that nobody routes, `auth` for one without a value.
 */
export async function resolveCredentials(
	sandboxId: string,
	refs: readonly string[],
	source: CredentialSource,
	declared: () => Promise<readonly CredentialRoute[]>,
): Promise<ResolvedCredentials> {
	const env: Record<string, string> = {};
	const files: Record<string, string> = {};
	let known: readonly CredentialRoute[] | undefined;
	for (const ref of new Set(refs)) {
		let route = source.route(ref);
		if (route === undefined) {
			known ??= await declared();
			route = known.find((candidate) => candidate.ref === ref);
		}
		if (route === undefined) throw unrouted(sandboxId, ref, known ?? []);
		const value = source.value(ref);
		if (value === undefined) throw withoutValue(sandboxId, ref);
		if (value.includes("\0")) throw unusable(sandboxId, ref);
		if ("env" in route) env[route.env] = value;
		else files[route.file] = value;
	}
	return { env, files };
}

function unrouted(sandboxId: string, ref: string, declared: readonly CredentialRoute[]): SandboxerError {
	return new SandboxerError({
		code: "invalid",
		message: `Credential ${JSON.stringify(ref)} is not known to sandbox ${sandboxId}: its profile's setup.secret_refs declare ${declared.map((route) => route.ref).join(", ") || "none"}, and the setting sandboxer:credentials does not name it.`,
		hint: "Nothing was started. Declare it in one of the two.",
		details: { sandbox_id: sandboxId, ref },
	});
}

function unusable(sandboxId: string, ref: string): SandboxerError {
	return new SandboxerError({
		code: "auth",
		message: `Credential ${ref} of sandbox ${sandboxId} has a NUL in its value.`,
		hint: "Nothing was started. Give it encoded, such as in base64.",
		details: { sandbox_id: sandboxId, ref },
	});
}

function withoutValue(sandboxId: string, ref: string): SandboxerError {
	return new SandboxerError({
		code: "auth",
		message: `Credential ${ref} of sandbox ${sandboxId} has no value here.`,
		hint: `Nothing was started. Set ${SECRET_PREFIX}${ref} in the environment, or pulumi config set --secret --path sandboxer:secrets.${ref}.`,
		details: { sandbox_id: sandboxId, ref },
	});
}
