export { assertWithin } from "./assert-within";
export { type CopyTreeOptions, type CopyTreeReport, copyTree } from "./copy-tree";
export { type RemoveTreeOptions, type RemoveTreeReport, removeTree } from "./remove-tree";
export { sandboxDirectory } from "./sandbox-directory";
