import { z } from "zod";
import { isObeyed } from "./obeyed";

const reference = z
	.string()
	.regex(/^[A-Z][A-Z0-9_]*$/, 'must be an upper-case name, such as "DB"')
	.refine((name) => !isObeyed(name), "is obeyed by a loader or an interpreter before the command itself runs");
const variable = z
	.string()
	.regex(/^[A-Z][A-Z0-9_]*$/, 'must be an upper-case name, such as "DATABASE_URL"')
	.refine((name) => !isObeyed(name), "is obeyed by a loader or an interpreter before the command itself runs");
const fileName = z
	.string()
	.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be a plain file name, such as "deploy_key"');

/** Where in a sandbox the value of a reference goes: an environment variable, or a file below /run/secrets. */
export const credentialRouteSchema = z.union([
	z.strictObject({ ref: reference, env: variable }),
	z.strictObject({ ref: reference, file: fileName }),
]);

/**
 * A credential by reference: its name, and where its value goes. The value itself stands nowhere but where it is
 * read at the moment of use.
 */
export type CredentialRoute = z.output<typeof credentialRouteSchema>;

/** As profiles write it: a name alone is the environment variable of that name. */
export const credentialReferenceSchema = z.union([reference, credentialRouteSchema]);

export function routeOf(reference: z.output<typeof credentialReferenceSchema>): CredentialRoute {
	return typeof reference === "string" ? { ref: reference, env: reference } : reference;
}
