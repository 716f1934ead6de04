import { z } from "zod";

const zonedSchema = z.iso.datetime({ offset: true });

/**
 * Milliseconds since 1970 of a time such as "2026-03-01T10:00:00Z"; undefined where the text names no zone, for it
 * would mean another moment on each machine, or is no time.
 */
export function utcMilliseconds(text: string): number | undefined {
	return zonedSchema.safeParse(text).success ? Date.parse(text) : undefined;
}
