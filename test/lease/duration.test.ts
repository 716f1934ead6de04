import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parse } from "yaml";
import { z } from "zod";
import { judge } from "../../provider/documents/problems";
import { profileSchema } from "../../provider/documents/profile";
import { durationSchema, durationSeconds, durationText } from "../../provider/lease/duration";
import { leaseSeconds } from "../../provider/lease/lease-seconds";

interface Row {
	in?: unknown;
	s?: number | string;
	or?: string;
	refuse?: boolean;
	profile_max?: string;
	profile?: { default: string; max: string };
}

const rows = parse(readFileSync(join(__dirname, "../cases/25-ttl/strings.yaml"), "utf8")) as Row[];
/** Where a row leaves the choice, these are refused: there is one way to write a duration. */
const REFUSED_BY_CHOICE = ["1.5h", " 30m "];
const TTL = { default: "1h", max: "24h" };

const strings = rows.flatMap((row) => (typeof row.in === "string" ? [{ ...row, in: row.in }] : []));
const refused = strings.filter((row) => row.refuse || REFUSED_BY_CHOICE.includes(row.in));
const accepted = strings.filter((row) => !refused.includes(row));

test("the case has the rows it had", () => {
	expect([rows.length, accepted.length, refused.length]).toEqual([32, 8, 21]);
});

test.each(accepted)("$in is $s seconds", ({ in: text, s, profile_max: max }) => {
	expect(leaseSeconds(text, { default: "1h", max: max ?? "60d" }).seconds).toBe(s);
	expect(durationSchema.safeParse(text).success).toBe(true);
});

test.each(refused)("$in is refused in a profile and in a request, with field, value and an example", ({ in: text }) => {
	expect(durationSeconds(text)).toBeUndefined();
	const judged = judge(z.strictObject({ ttl: durationSchema }), { ttl: text });
	expect(judged).toMatchObject({ sound: false, problems: [{ path: ["ttl"] }] });
	expect(judged.sound || judged.problems[0]?.reason).toContain(`${JSON.stringify(text)}, which is not a duration`);
	expect(judged.sound || judged.problems[0]?.reason).toContain('"4h"');
	expect(() => leaseSeconds(text, TTL)).toThrow(`ttl ${JSON.stringify(text)} is not a duration`);
});

test("3600, a YAML number, is refused: put it in quotes, with its unit", () => {
	const judged = judge(durationSchema, 3600);
	expect(judged).toMatchObject({
		problems: [{ reason: 'is the number 3600, not a text; put it in quotes, with its unit, such as "4h"' }],
	});
});

test.each([null, undefined])("a request without a ttl (%s) takes the profile's default", (none) => {
	expect(leaseSeconds(none, { default: "2h", max: "4h" })).toEqual({ seconds: 7200, capped: false });
});

test("25h under a maximum of 24h is capped, and says so", () => {
	expect(leaseSeconds("25h", TTL)).toEqual({ seconds: 86_400, capped: true });
});

test("a default above the maximum is refused, comparing durations and not texts", () => {
	const profile = { id: "profile.x", version: "1", extension: "ext.x", isolation: { level: "vm" } };
	const reason = 'is "5h", longer than ttl.max, "4h"; shorten it or raise the maximum';
	expect(judge(profileSchema, { ...profile, ttl: { default: "5h", max: "4h" } })).toEqual({
		sound: false,
		problems: [{ path: ["ttl", "default"], reason }],
	});
	expect(judge(profileSchema, { ...profile, ttl: { default: "90m", max: "2h" } }).sound).toBe(true);
	expect(judge(profileSchema, { ...profile, ttl: { max: "30m" } })).toMatchObject({
		problems: [{ path: ["ttl", "default"] }],
	});
});

test("what is written as a duration is read as the same seconds", () => {
	fc.assert(
		fc.property(
			fc.integer({ min: 1, max: 100 * 365 * 86_400 }),
			(seconds) => durationSeconds(durationText(seconds)) === seconds,
		),
	);
});

test("any text is a duration of at least one whole second, or none", () => {
	const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-9dhms.+ -]{0,12}$/));
	fc.assert(
		fc.property(texts, (text) => {
			const seconds = durationSeconds(text);
			return seconds === undefined || (Number.isSafeInteger(seconds) && seconds >= 1);
		}),
	);
});

test("the pattern that editors get agrees with the schema on the grammar", () => {
	const { pattern } = z.toJSONSchema(durationSchema) as { pattern: string };
	fc.assert(
		fc.property(fc.stringMatching(/^[0-9dhms]{0,8}$/), (text) => {
			if (durationSeconds(text) !== undefined) expect(text).toMatch(new RegExp(pattern, "u"));
		}),
	);
});
