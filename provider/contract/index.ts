export type { ExtensionDeclaration } from "../documents/extension";
export type { Profile } from "../documents/profile";
export { hasCode, SandboxerError } from "../errors";
export { checkpoint } from "./checkpoint";
export * from "./extension";
export { isSameOwner } from "./same-owner";
export * from "./types";
