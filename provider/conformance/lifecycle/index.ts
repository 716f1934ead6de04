import type { Case } from "../case";
import { HOLDERS } from "./holders";
import { LOST_CREATES } from "./lost-creates";
import { SANDBOXES } from "./sandboxes";

/** From the first create to the last trace. */
export const LIFECYCLE: readonly Case[] = [...SANDBOXES, ...HOLDERS, ...LOST_CREATES];
