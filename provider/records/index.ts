export { type HeldLock, type LockAttempt, type LockOptions, withLock } from "./lock";
export { replaceFile, syncFolder, writeDurably } from "./write-durably";
