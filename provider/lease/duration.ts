import { z } from "zod";

/** Seconds in each unit, largest first: the order in which a duration is written. */
const UNIT_SECONDS = { d: 86_400, h: 3_600, m: 60, s: 1 } as const;
/** A hundred years: beyond it a date has no meaning for a lease. */
const MAX_SECONDS = 100 * 365 * UNIT_SECONDS.d;
const GRAMMAR = /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/;
/** The longest offending value that a message repeats. */
const SHOWN = 40;

/** How a duration is written, for messages. */
export const DURATION_RULE =
	'is not a duration: write days, hours, minutes and seconds, largest first, such as "4h" or "1h30m"';

/**
 * The seconds of a duration such as `90s`, `30m`, `4h`, `1d` or `1h30m`; undefined where the text is no
 * duration: no unit, no digits, zero, a sign, a decimal, a blank, another unit, or more than a hundred years.
 */
export function durationSeconds(text: string): number | undefined {
	const match = GRAMMAR.exec(text);
	if (match === null || text === "") return undefined;
	const seconds = Object.values(UNIT_SECONDS).reduce(
		(sum, unit, index) => sum + unit * Number(match[index + 1] ?? 0),
		0,
	);
	return seconds > 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}

/**
 * Seconds as a duration in its shortest form, such as `1h30m`; what `durationSeconds` reads back.
 *
 * @param seconds - A whole number above 0.
 */
export function durationText(seconds: number): string {
	let left = seconds;
	let text = "";
	for (const [unit, size] of Object.entries(UNIT_SECONDS)) {
		const count = Math.floor(left / size);
		left -= count * size;
		if (count > 0) text += `${count}${unit}`;
	}
	return text;
}

/** A duration in a document or an argument. */
export const durationSchema = z
	.string({
		error: ({ input }) =>
			typeof input === "number"
				? `is the number ${input}, not a text; put it in quotes, with its unit, such as "4h"`
				: undefined,
	})
	.refine((text) => durationSeconds(text) !== undefined, {
		error: ({ input }) => `is ${JSON.stringify(String(input).slice(0, SHOWN))}, which ${DURATION_RULE}`,
	})
	.meta({ pattern: "^(?=\\d)(\\d{1,9}d)?(\\d{1,9}h)?(\\d{1,9}m)?(\\d{1,9}s)?$", examples: ["4h", "1h30m"] });
