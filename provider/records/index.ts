export { type HeldLock, type LockOptions, withLock } from "./lock";
export { stateDirectory } from "./state-directory";
export { writeDurably } from "./write-durably";
