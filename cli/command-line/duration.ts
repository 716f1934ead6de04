import { DURATION_RULE, durationSeconds } from "../../provider/lease/duration";
import { UsageError } from "./usage-error";

/** The seconds of an option's duration. */
export function duration(option: string, text: string): number {
	const seconds = durationSeconds(text);
	if (seconds !== undefined) return seconds;
	throw new UsageError(`--${option} ${JSON.stringify(text)} ${DURATION_RULE}.`);
}
