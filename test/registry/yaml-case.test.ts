import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { findExtension, loadProfile, searchFrom } from "../../provider/registry";
import { folderOf } from "./folder-of";
import { refusalOf } from "./refusal-of";

const CASE = join(__dirname, "../cases/26-profile-yaml");

interface Expectation {
	refuse?: boolean;
	error_names?: string[];
	within_s?: number;
	memory_mb_at_most?: number;
	fallback?: string[];
	version?: string;
}

const expectations = Object.entries(
	parse(readFileSync(join(CASE, "expect.yaml"), "utf8")) as Record<string, Expectation>,
);
const refused = expectations.filter(([, { refuse }]) => refuse);
const accepted = expectations.filter(([, { refuse }]) => !refuse);

const search = searchFrom({ cwd: CASE, extensionPath: "../../fixtures/extensions" });

/** What reads a file of the case, with all there that it needs. */
function reader(file: string): () => unknown {
	if (file === "extension.bad.yaml") {
		const cwd = folderOf({ "ext.my-backend.yaml": readFileSync(join(CASE, file)) });
		return () => findExtension("ext.my-backend", searchFrom({ cwd, extensionPath: "." }));
	}
	if (!file.endsWith(".sh")) return () => loadProfile(`./${file}`, search);
	const cwd = folderOf({ "deep.yaml": execFileSync("sh", [join(CASE, file)]) });
	return () => loadProfile("./deep.yaml", searchFrom({ cwd }));
}

/** "line 6", or a key as it stands in a line of the message. */
function named(what: string): RegExp {
	const [, line] = /^line (\d+)$/.exec(what) ?? [];
	return line === undefined
		? new RegExp(`^.+[.]yaml:\\d+: .*${what.replaceAll(/[.!/]/g, "\\$&")}`, "m")
		: new RegExp(`[.]yaml:${line}: `);
}

test("every file of the case is expected to be something", () => {
	const files = readdirSync(CASE).filter((file) => !["case.yaml", "expect.yaml"].includes(file));
	expect(expectations.map(([file]) => file).sort()).toEqual(files.sort());
	expect([refused.length, accepted.length]).toEqual([13, 1]);
});

test.each(refused)(
	"%s is refused, plainly and at once",
	(file, { error_names: names = [], within_s: seconds = 1, memory_mb_at_most: megabytes = 200 }) => {
		const reading = reader(file);
		const [start, memory] = [process.cpuUsage(), process.memoryUsage.rss()];
		const { message, details } = refusalOf(reading);
		expect(process.cpuUsage(start).user).toBeLessThan(seconds * 1_000_000);
		expect(process.memoryUsage.rss() - memory).toBeLessThan(megabytes * 1024 * 1024);
		for (const name of names) expect(message).toMatch(named(name));
		expect(message).not.toMatch(/stack|undefined|\[object|heap/i);
		for (const line of message.split("\n")) expect(line).toMatch(/^.+[.]yaml:\d+: \S/);
		expect(details).toMatchObject({
			file: expect.stringMatching(/[.]yaml$/),
			problems: expect.arrayContaining([
				{ line: expect.any(Number), path: expect.any(String), reason: expect.any(String) },
			]),
		});
	},
);

test.each(accepted)("%s is accepted", (file, { fallback, version }) => {
	expect(loadProfile(`./${file}`, search).profile).toMatchObject({
		version,
		placement: { prefer: fallback, fallback },
	});
});

test("numbers.yaml: nothing was converted, and each message says what to do", () => {
	expect(refusalOf(reader("numbers.yaml")).message.split("\n")).toEqual([
		"numbers.yaml:1: id: is 007, which YAML reads as the number 7; put it in quotes if it is a text, else leave out the leading zero",
		"numbers.yaml:2: version: is the number 1.1, not a text; put it in quotes",
		"numbers.yaml:5: resources.memory_mb: is 9007199254740993, a number too large to be kept exactly; put it in quotes if it is a text",
		"numbers.yaml:6: metadata.cost_class: is the number 100000, not a text; put it in quotes",
		'numbers.yaml:7: ttl.default: is the number 3600, not a text; put it in quotes, with its unit, such as "4h"',
	]);
});

test("proto.yaml pollutes nothing, and the next profile keeps its isolation", () => {
	refusalOf(reader("proto.yaml"));
	expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
	expect(loadProfile("./good-anchors.yaml", search).profile.isolation).toEqual({ level: "container" });
});
