import type { Case } from "../case";
import { CONFINEMENT } from "./confinement";
import { CREDENTIALS } from "./credentials";
import { ENDS } from "./ends";
import { ENVIRONMENT } from "./environment";
import { LIMITS } from "./limits";
import { NEIGHBOURS } from "./neighbours";
import { PLACE } from "./place";
import { STREAMS } from "./streams";
import { WORDS } from "./words";

/** What a command in a sandbox can do, see and leave behind. */
export const EXECUTION: readonly Case[] = [
	...WORDS,
	...ENDS,
	...ENVIRONMENT,
	...CREDENTIALS,
	...PLACE,
	...CONFINEMENT,
	...STREAMS,
	...LIMITS,
	...NEIGHBOURS,
];
