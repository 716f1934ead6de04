export { type ProcessIdentity, ProcessTable, processIdentitySchema, waitUntilDead } from "./process-identity";
