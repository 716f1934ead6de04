export { type HeldLock, type LockOptions, withLock } from "./lock";
export { writeDurably } from "./write-durably";
