import { join } from "node:path";
import { findExtension, loadExtensions, searchFrom } from "../../provider/registry";
import { folderOf } from "./folder-of";
import { refusalOf } from "./refusal-of";

const declaration = (id: string): string =>
	`id: ${id}\ntitle: X\nhandler: "./handler:X"\ncapabilities: { isolation_levels: [vm], pricing_model: self-hosted }\n`;
const searchIn = (files: Readonly<Record<string, string>>, extensionPath = ".") =>
	searchFrom({ cwd: folderOf(files), extensionPath });

test("the package's own extensions and those of the search path are one list, sorted", () => {
	const search = searchIn({
		"z/ext.aaa.yaml": declaration("ext.aaa"),
		"ext.zzz.yaml": declaration("ext.zzz"),
		"z/deeper/ext.no.yaml": "",
		"z/other.yaml": "",
	});
	const extensions = loadExtensions(search);
	expect(extensions.map(({ id }) => id)).toEqual(["ext.aaa", "ext.bwrap", "ext.zzz"]);
	expect(extensions[0]?.file).toBe(join(search.cwd, "z/ext.aaa.yaml"));
});

test("ext.bwrap is declared as a process-level, self-hosted extension", () => {
	expect(findExtension("ext.bwrap", searchFrom({ cwd: __dirname }))).toMatchObject({
		handler: "./handler:BwrapExtension",
		capabilities: { isolation_levels: ["process"], persistence: false, pricing_model: "self-hosted" },
	});
});

test("an id in two folders is refused, naming both files, in the list and by itself", () => {
	const search = searchIn({ "a/ext.x.yaml": declaration("ext.x"), "b/ext.x.yaml": declaration("ext.x") }, "a:b");
	for (const attempt of [() => loadExtensions(search), () => findExtension("ext.x", search)]) {
		expect(refusalOf(attempt).message).toBe("ext.x is declared more than once: a/ext.x.yaml and b/ext.x.yaml.");
	}
});

test("the file's name is the id's", () => {
	const search = searchIn({ "ext.a.yaml": declaration("ext.b") });
	expect(refusalOf(() => findExtension("ext.a", search)).message).toBe(
		'ext.a.yaml:1: id: is "ext.b", but the file\'s name says "ext.a"; make them equal',
	);
});

test("one that is not declared: names those that are, the folders, and what was meant", () => {
	const search = searchIn({});
	const { message } = refusalOf(() => findExtension("ext.bwarp", search));
	expect(message).toContain('Extension "ext.bwarp" is not declared; did you mean "ext.bwrap"? (known: ext.bwrap');
	expect(message).toContain(search.cwd);
});

test.each([
	["handler: a module of Node", declaration("ext.x").replace("./handler:X", "node:fs:x"), "handler: must look like"],
	[
		"handler: a module of Node",
		declaration("ext.x").replace("./handler:X", "fs:unlinkSync"),
		"handler: names a module of Node itself",
	],
	[
		"handler: without a class",
		declaration("ext.x").replace("./handler:X", "./handler"),
		'handler: must look like "./handler:ClassName"',
	],
	["an unknown key", `${declaration("ext.x")}isolation_levels: [vm]\n`, "isolation_levels: is not a known key"],
	["a duplicate key", `${declaration("ext.x")}handler: "./other:X"\n`, "ext.x.yaml:5: handler: stands twice"],
	[
		"a nested setting",
		`${declaration("ext.x")}config: { a: { b: 1 } }\n`,
		"config.a: is a mapping; it must be a text or a number or true or false",
	],
])("%s is refused", (_, text, reason) => {
	expect(refusalOf(() => findExtension("ext.x", searchIn({ "ext.x.yaml": text }))).message).toContain(reason);
});

test("a declaration with problems does not keep the others from being found", () => {
	const search = searchIn({ "ext.bad.yaml": "id: [", "ext.good.yaml": declaration("ext.good") });
	expect(findExtension("ext.good", search).id).toBe("ext.good");
	expect(refusalOf(() => loadExtensions(search)).message).toContain("ext.bad.yaml:1: ");
});
