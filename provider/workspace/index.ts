export { assertWithin } from "./assert-within";
export { type CopyTreeOptions, type CopyTreeReport, copyTree } from "./copy-tree";
export { leadsOut, leadsOutByItself } from "./leads-out";
export { pathText, plainPathText } from "./path-text";
export type { Planned, PlannedDirectory } from "./planned-tree";
export { type RemoveTreeOptions, type RemoveTreeReport, removeTree } from "./remove-tree";
export { sandboxDirectory } from "./sandbox-directory";
