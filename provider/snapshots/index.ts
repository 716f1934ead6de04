export { DEFAULT_LIMITS, type SnapshotLimits } from "./limits";
export { type Manifest, manifestSchema } from "./manifest";
export { type SnapshotFacts, SnapshotStore, type TakeOptions } from "./snapshot-store";
export { StoredArchive } from "./stored-archive";
export type { TarSettings } from "./tar-program";
