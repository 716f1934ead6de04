export { type HeldLock, isLocked, type LockOptions, withLock } from "./lock";
export { stateDirectory } from "./state-directory";
export { writeDurably } from "./write-durably";
