export { type HeldLock, isLocked, type LockOptions, withLock } from "./lock";
export { writeDurably } from "./write-durably";
