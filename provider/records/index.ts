export { type HeldLock, isLocked, type LockAttempt, type LockOptions, withLock } from "./lock";
export { stateDirectory } from "./state-directory";
export { replaceFile, syncFolder, writeDurably } from "./write-durably";
