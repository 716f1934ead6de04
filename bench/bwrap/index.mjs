import { createToReady } from "./create-to-ready.mjs";
import { requireTime } from "./require-time.mjs";
import { stateSize } from "./state-size.mjs";
import { upTime } from "./up-time.mjs";

export const bwrap = {
	"create-to-ready": createToReady,
	"state-size": stateSize,
	"require-time": requireTime,
	"up-time": upTime,
};
