export { type HeldLock, isLocked, type LockAttempt, type LockOptions, withLock } from "./lock";
export { type RecordWording, readRecordFile } from "./read-record-file";
export { stateDirectory } from "./state-directory";
export { replaceFile, syncFolder, writeDurably } from "./write-durably";
