import { outputMemory } from "./output-memory.mjs";
import { roundTrip } from "./round-trip.mjs";

export const exec = { "round-trip": roundTrip, "output-memory": outputMemory };
