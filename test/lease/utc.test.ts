import { utcMilliseconds } from "../../provider/lease/utc";

describe("a time in a state or an argument", () => {
	it.each([
		["2026-03-01T10:00:00Z", 1_772_359_200_000],
		["2026-03-01T10:00:00.250Z", 1_772_359_200_250],
		["2026-03-01T11:00:00+01:00", 1_772_359_200_000],
	])("%s is one moment everywhere", (text, milliseconds) => expect(utcMilliseconds(text)).toBe(milliseconds));

	it.each([
		"2026-03-01T10:00:00",
		"2026-03-01 10:00:00",
		"2026-03-01",
		"10:00",
		"",
		"NaN",
		"1772359200000",
		"2026-02-30T10:00:00Z",
	])("%j is none: it names no zone, or no moment", (text) => expect(utcMilliseconds(text)).toBeUndefined());
});
