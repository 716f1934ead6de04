/** What every extension must pass, as tests that an author runs against his own. */
export type { ConformanceAdapter, ProgramInside } from "./adapter";
export { conformance } from "./conformance";
export type { ArchiveMember, HostileArchive } from "./snapshots/hostile";
