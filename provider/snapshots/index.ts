export { inspectArchive } from "./inspect-archive";
export type { InspectedArchive } from "./inspected-archive";
export { DEFAULT_LIMITS, type SnapshotLimits } from "./limits";
export { type Manifest, manifestSchema } from "./manifest";
export { type SnapshotFacts, SnapshotStore, type TakeOptions } from "./snapshot-store";
export type { TarSettings } from "./tar-program";
