import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { output } from "@pulumi/pulumi";
import { listProfiles, loadProfile, type Search, searchFrom } from "../../provider/registry";
import { folderOf } from "./folder-of";
import { refusalOf } from "./refusal-of";

const FIXTURES = join(__dirname, "../fixtures/extensions");
const profile = (id: string, more = ""): string =>
	`id: ${id}\nversion: "1"\nextension: ext.compose-ssh\nisolation: { level: container }\n${more}`;
const inline = { extension: "ext.compose-ssh", isolation: { level: "container" } };

function searchIn(files: Readonly<Record<string, string | Buffer>>, profilePath?: string): Search {
	return searchFrom({ cwd: folderOf(files), profilePath, extensionPath: FIXTURES });
}

describe("the package's own profiles", () => {
	const search = searchFrom({ cwd: __dirname });

	test.each(listProfiles(search))("$id loads, with an extension of the package", ({ id, file }) => {
		const loaded = loadProfile(id, search);
		expect(loaded.profile.id).toBe(id);
		expect(loaded.declaration).toMatchObject({ id: loaded.profile.extension });
		expect(loaded.source).toBe(file);
	});

	test("bwrap-local asks for nothing that an ordinary user lacks", () => {
		const { profile } = loadProfile("bwrap-local", search);
		expect(profile).toMatchObject({
			extension: "ext.bwrap",
			isolation: { level: "process" },
			network: { default: "deny" },
			ttl: { default: "1h", max: "24h" },
		});
		expect(profile.resources).toEqual({ memory_mb: 2048 });
	});

	test("agent-dev is open to the network", () => {
		expect(loadProfile("profile.agent-dev", search).profile).toMatchObject({
			network: { default: "allow" },
			resources: { memory_mb: 4096 },
			ttl: { default: "4h", max: "24h" },
		});
	});
});

describe("a name", () => {
	test("stands for a file in a folder of the search path, or one level down, in short or in full", () => {
		const search = searchIn(
			{
				"mine/profile.a.yaml": profile("profile.a"),
				"mine/team/profile.b.yaml": profile("profile.b"),
				"mine/team/deeper/profile.c.yaml": "",
			},
			"mine",
		);
		expect(loadProfile("a", search)).toMatchObject({
			profile: { id: "profile.a" },
			declaration: { id: "ext.compose-ssh" },
			source: "mine/profile.a.yaml",
		});
		expect(loadProfile("profile.b", search).source).toBe("mine/team/profile.b.yaml");
		expect(listProfiles(search).map(({ id }) => id)).toEqual([
			"profile.a",
			"profile.agent-dev",
			"profile.b",
			"profile.bwrap-local",
		]);
	});

	test("that no file has: names the known profiles, the folders, and what was meant", () => {
		const search = searchIn({ "mine/profile.web.yaml": profile("profile.web") }, "mine");
		const { text } = refusalOf(() => loadProfile("wbe", search));
		expect(text).toContain('Profile "wbe" was not found; did you mean "profile.web"?');
		expect(text).toContain("Known profiles: profile.agent-dev, profile.bwrap-local, profile.web.");
		expect(text).toContain(join(search.cwd, "mine"));
		expect(text).toContain("sandboxer:profilePath");
	});

	test("that two files have is refused, naming both", () => {
		const search = searchIn(
			{ "mine/profile.bwrap-local.yaml": profile("profile.bwrap-local"), "x/profile.a.yaml": profile("profile.a") },
			"mine:x",
		);
		const { message } = refusalOf(() => loadProfile("bwrap-local", search));
		expect(message).toContain("mine/profile.bwrap-local.yaml");
		expect(message).toContain(join(__dirname, "../../profiles/profile.bwrap-local.yaml"));
		expect(loadProfile("a", search).profile.id).toBe("profile.a");
		expect(() => listProfiles(search)).toThrow("declared more than once");
	});

	test("is not ambiguous because one folder is reached in two ways", () => {
		const search = searchIn({ "mine/profile.a.yaml": profile("profile.a") }, "mine:./mine:.");
		symlinkSync(join(search.cwd, "mine"), join(search.cwd, "again"));
		expect(loadProfile("a", search).profile.id).toBe("profile.a");
	});

	test("in the file that is another id's is refused", () => {
		const search = searchIn({ "profile.a.yaml": profile("profile.b") }, ".");
		expect(refusalOf(() => loadProfile("a", search)).message).toBe(
			'profile.a.yaml:1: id: is "profile.b", but the file\'s name says "profile.a"; make them equal',
		);
	});

	test.each(["", "../profile.a", "profile.", "nul\0"])("such as %j leads to no file outside the folders", (name) => {
		expect(refusalOf(() => loadProfile(name, searchIn({}))).message).toContain("was not found");
	});

	test("of a broken profile leaves the others usable", () => {
		const search = searchIn({ "profile.a.yaml": "id: [", "profile.b.yaml": profile("profile.b") }, ".");
		expect(loadProfile("b", search).profile.id).toBe("profile.b");
		expect(listProfiles(search).map(({ id }) => id)).toContain("profile.a");
	});
});

describe("a path", () => {
	test.each(["./sub/mine.yaml", "sub/mine.yaml", "mine.yml"])(
		"%s starts at the program's folder; the file's name is free unless it is a profile's",
		(path) => {
			const search = searchIn({ "sub/mine.yaml": profile("profile.x"), "mine.yml": profile("profile.x") });
			expect(loadProfile(path, search)).toMatchObject({ profile: { id: "profile.x" }, source: path.replace("./", "") });
		},
	);

	test("that leads nowhere is refused, naming where it led", () => {
		const search = searchIn({});
		expect(refusalOf(() => loadProfile("./nope.yaml", search)).message).toContain(join(search.cwd, "nope.yaml"));
	});

	test.each<[string, string | Buffer, string]>([
		[
			"a file that is too large",
			`${profile("profile.x")}#${"x".repeat(65_536)}`,
			"has 65623 bytes; a document has at most 65536",
		],
		["a file that is not UTF-8", Buffer.from([0x69, 0xff, 0xfe]), "is not UTF-8 text"],
		["an empty file", "# nothing\n", "x.yaml:1: the document is empty"],
		["a list", "- a\n", "the document is a list; a mapping is wanted"],
	])("to %s is refused", (_, content, reason) => {
		expect(refusalOf(() => loadProfile("./x.yaml", searchIn({ "x.yaml": content }))).message).toContain(reason);
	});

	test("to a folder is refused", () => {
		expect(refusalOf(() => loadProfile("./sub", searchIn({ "sub/x": "" }))).message).toBe("sub: is not a file.");
	});
});

describe("an object", () => {
	const search = searchIn({});

	test("is a profile, in either spelling, with an id and a version of its own or none", () => {
		const document = {
			...inline,
			resources: { memoryMb: 512 },
			ttl: { default: "1h", idle_reap: "10m" },
			setup: { secretRefs: ["DB"] },
			metadata: { costClass: "x" },
		};
		expect(loadProfile(document, search)).toMatchObject({
			profile: {
				id: "profile.inline",
				version: "1",
				resources: { memory_mb: 512 },
				ttl: { default: "1h", idle_reap: "10m" },
				setup: { secret_refs: ["DB"] },
				metadata: { cost_class: "x" },
			},
			declaration: { id: "ext.compose-ssh" },
			source: "inline",
		});
		expect(loadProfile({ ...inline, id: "profile.mine", version: "2" }, search).profile).toMatchObject({
			id: "profile.mine",
			version: "2",
		});
	});

	test("has all its problems told at once, without a line", () => {
		const { message, details } = refusalOf(() =>
			loadProfile({ ...inline, netwrok: {}, resources: { memoryMb: "x" } }, search),
		);
		expect(message.split("\n")).toEqual([
			"inline profile: resources.memory_mb: is a text; a number is wanted, without quotes",
			'inline profile: netwrok: is not a known key; did you mean "network"?',
		]);
		expect(details.problems).toEqual([
			expect.objectContaining({ path: "resources.memory_mb" }),
			expect.objectContaining({ path: "netwrok" }),
		]);
	});

	test("may hold Pulumi Outputs: they stay what they are, and defaults are filled in around them", () => {
		const memoryMb = output(512);
		const { profile } = loadProfile(
			{ ...inline, resources: { memoryMb }, isolation: { level: output("container") } },
			search,
		);
		expect(profile.resources.memory_mb).toBe(memoryMb);
		expect(profile.network).toEqual({ default: "deny" });
	});

	test.each(["extension", "route"])("needs a plain %s, which decides the resource's type", (field) => {
		const { message } = refusalOf(() =>
			loadProfile({ isolation: { level: "container" }, [field]: output("x") }, search),
		);
		expect(message).toContain(`inline profile: ${field}: must be known while the program runs`);
	});

	test.each([[[]], [new Map()], [output({})]])("that is no plain object is refused", (reference) => {
		expect(refusalOf(() => loadProfile(reference, search)).message).toContain("neither a text nor a plain object");
	});
});

describe("a profile's extension", () => {
	const search = searchIn({});

	test("must be declared; the error says which are", () => {
		const { message } = refusalOf(() => loadProfile({ ...inline, extension: "ext.compose-shh" }, search));
		expect(message).toContain(
			'extension: is "ext.compose-shh", which is not declared; did you mean "ext.compose-ssh"?',
		);
		expect(message).toContain("ext.bwrap, ext.compose-ssh, ext.note-paper, ext.saas-stub");
		expect(message).toContain(FIXTURES);
	});

	test("must offer the profile's level; the error names both, and those that do offer it", () => {
		const found = searchIn(
			{ "profile.a.yaml": 'id: profile.a\nversion: "1"\nextension: ext.bwrap\nisolation:\n  level: container\n' },
			".",
		);
		expect(refusalOf(() => loadProfile("a", found)).message).toBe(
			'profile.a.yaml:5: isolation.level: is "container", which ext.bwrap does not offer (it offers process); these do: ext.compose-ssh, ext.note-paper, ext.saas-stub',
		);
		expect(refusalOf(() => loadProfile({ ...inline, isolation: { level: "microvm" } }, search)).message).toContain(
			"no declared extension offers it",
		);
	});

	test("is one of two: exactly one of extension and route", () => {
		const route = { strategy: "explicit", extensions: ["ext.compose-ssh"] };
		expect(refusalOf(() => loadProfile({ ...inline, route }, search)).message).toContain(
			"route: stands beside extension; keep one of the two",
		);
		expect(refusalOf(() => loadProfile({ isolation: { level: "container" } }, search)).message).toContain(
			"extension: is missing",
		);
		expect(loadProfile({ isolation: { level: "container" }, route }, search)).toMatchObject({
			declaration: undefined,
			profile: { route },
		});
	});

	test("of a route: all are declared, and one at least offers the level", () => {
		const routed = (level: string, extensions: string[]) => ({
			isolation: { level },
			route: { strategy: "explicit", extensions },
		});
		expect(loadProfile(routed("process", ["ext.compose-ssh", "ext.bwrap"]), search).declaration).toBeUndefined();
		expect(
			refusalOf(() => loadProfile(routed("container", ["ext.compose-ssh", "ext.nope"]), search)).message,
		).toContain('route.extensions[1]: is "ext.nope", which is not declared');
		expect(refusalOf(() => loadProfile(routed("vm", ["ext.compose-ssh", "ext.bwrap"]), search)).message).toContain(
			"ext.compose-ssh does not offer (it offers container) and ext.bwrap does not",
		);
	});
});

test("no value of a profile that may be a secret is repeated", () => {
	const secret = "hunter2-hunter2";
	const text = profile(
		"profile.a",
		`setup: { instructions: [${secret}], secret_refs: [${secret}] }\nnetwork: { egress: ${secret} }\nplacement: { prefer: ["-${secret}"] }\ntoken: ${secret}\n`,
	);
	const { text: told, details } = refusalOf(() => loadProfile("a", searchIn({ "profile.a.yaml": text }, ".")));
	expect(details.problems).toHaveLength(5);
	expect(told + JSON.stringify(details)).not.toContain(secret);
});
