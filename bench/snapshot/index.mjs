import { takeAndRestore } from "./take-and-restore.mjs";

export const snapshot = { "take-and-restore": takeAndRestore };
