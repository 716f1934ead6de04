import { holdsUnknown } from "../../documents/unknown";
import type { Difference } from "../diff";
import { isEqual } from "../replacing";
import type { SnapshotInputs } from "./inputs";

/** What is only written down. */
const RECORDED = [
	"extension",
	"keep",
	"labels",
	"timeout",
	"owner",
] as const satisfies readonly (keyof SnapshotInputs)[];

/**
 * Only triggers, or another id of the program's own, retake a snapshot. Another sandbox is no change, and one that is
 * not known yet neither: when a sandbox is replaced, the engine asks so for each of its snapshots.
 */
export function diffSnapshot(olds: Partial<SnapshotInputs>, news: SnapshotInputs): Difference {
	const retaking = (["triggers", "snapshotId"] as const).filter((key) => !isEqual(olds[key], news[key]));
	const replaces = retaking.filter((key) => !holdsUnknown(news[key]));
	return {
		changes: retaking.length > 0 || RECORDED.some((key) => !isEqual(olds[key], news[key])),
		replaces,
		deleteBeforeReplace: false,
	};
}
