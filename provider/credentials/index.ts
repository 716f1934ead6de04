export { type CredentialRoute, credentialReferenceSchema, credentialRouteSchema, routeOf } from "./credential-route";
export { type CredentialSource, credentialSource, SECRET_PREFIX } from "./credential-source";
export { CredentialMask } from "./mask";
export { isObeyed } from "./obeyed";
export { type ResolvedCredentials, resolveCredentials } from "./resolve";
