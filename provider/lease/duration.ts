import { z } from "zod";

/** Seconds in each unit, largest first: the order in which a duration is written. */
const UNIT_SECONDS = { d: 86_400, h: 3_600, m: 60, s: 1 } as const;
/** A hundred years: beyond it a date has no meaning for a lease. */
const MAX_SECONDS = 100 * 365 * UNIT_SECONDS.d;
const GRAMMAR = /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/;

/** How a duration is written, for messages. */
export const DURATION_RULE = 'is not a duration: write days, hours, minutes and seconds, largest first, such as "4h" or "1h30m"';

/**
 * The seconds of a duration such as `90s`, `30m`, `4h`, `1d` or `1h30m`; undefined where the text is no
 * duration: no unit, no digits, zero, a sign, a blank, another unit, or more than a hundred years.
 */
export function durationSeconds(text: string): number | undefined {
	const match = GRAMMAR.exec(text);
	if (match === null || text === "") return undefined;
	const seconds = Object.values(UNIT_SECONDS).reduce((sum, unit, index) => sum + unit * Number(match[index + 1] ?? 0), 0);
	return seconds > 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}

/** A duration in a document or an argument. */
export const durationSchema = z.string().refine((text) => durationSeconds(text) !== undefined, DURATION_RULE);
