import { z } from "zod";
import { SandboxerError } from "../errors";
import { type CredentialRoute, credentialReferenceSchema, routeOf } from "./credential-route";

/** Where credentials come from: routes by the settings, values at the moment of use. */
export interface CredentialSource {
	/** Where the settings say that a reference goes; `undefined` where they do not name it. */
	route(ref: string): CredentialRoute | undefined;
	/** The value; `undefined` where there is none. */
	value(ref: string): string | undefined;
}

/** What precedes a reference in the name of the environment variable that holds its value. */
export const SECRET_PREFIX = "SANDBOXER_SECRET_";

const routesSchema = z.array(credentialReferenceSchema);
const valuesSchema = z.record(z.string(), z.string());

/**
 * The credentials of one set of settings: routes by `sandboxer:credentials` (a list, as `setup.secret_refs`),
 * values by the environment variable `SANDBOXER_SECRET_<REF>`, else by `sandboxer:secrets` (a secret mapping).
 */
export function credentialSource(
	setting: (key: "credentials" | "secrets") => unknown,
	environment: (name: string) => string | undefined,
): CredentialSource {
	return {
		route: (ref) =>
			parsed("credentials", routesSchema, setting("credentials") ?? [])
				.map(routeOf)
				.find((route) => route.ref === ref),
		value: (ref) =>
			environment(`${SECRET_PREFIX}${ref}`) ??
			new Map(Object.entries(parsed("secrets", valuesSchema, setting("secrets") ?? {}))).get(ref),
	};
}

/** What is wrong is told, never the value. */
function parsed<T>(key: string, schema: z.ZodType<T>, value: unknown): T {
	const result = schema.safeParse(value);
	if (result.success) return result.data;
	const [issue] = result.error.issues;
	throw new SandboxerError({
		code: "invalid",
		message: `The setting sandboxer:${key} is not acceptable at ${["", ...(issue?.path ?? [])].join(".") || "its top"}.`,
		hint:
			key === "credentials"
				? 'It is a list, such as [DB, {"ref": "KEY", "file": "deploy_key"}].'
				: "It is a mapping of references to values, set with --secret.",
	});
}
