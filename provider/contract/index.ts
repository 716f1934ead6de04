/** The schema library that `inputsSchema` is written with: one copy of it for everybody. */
export { z } from "zod";
export type { ExtensionDeclaration } from "../documents/extension";
export type { Profile } from "../documents/profile";
export { hasCode, SandboxerError } from "../errors";
export { checkpoint } from "./checkpoint";
export * from "./extension";
export { isSameOwner } from "./same-owner";
export * from "./types";
