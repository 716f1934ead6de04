const UNITS = [
	["d", 86_400_000, 36 * 3_600_000],
	["h", 3_600_000, 90 * 60_000],
	["min", 60_000, 90_000],
	["s", 1000, 0],
] as const;

/** A moment, UTC, and how far away it is: `2026-10-01 12:00:00Z (in 12 min)`; "never" where there is none. */
export function moment(iso: string | undefined, now: number, none = "never"): string {
	if (iso === undefined) return none;
	return `${iso.slice(0, 19).replace("T", " ")}Z (${distance(Date.parse(iso) - now)})`;
}

/** `in 12 min` or `3 h ago`. */
export function distance(milliseconds: number): string {
	const far = Math.abs(milliseconds);
	const [unit, size] = UNITS.find(([, , from]) => far >= from) ?? UNITS[3];
	const length = `${Math.round(far / size)} ${unit}`;
	return milliseconds >= 0 ? `in ${length}` : `${length} ago`;
}

/** A number of bytes: `1.5 MiB`. */
export function bytes(count: number): string {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	const power = count === 0 ? 0 : Math.min(Math.floor(Math.log2(count) / 10), units.length - 1);
	return `${Number((count / 1024 ** power).toFixed(1))} ${units[power]}`;
}
