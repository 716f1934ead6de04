import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { SandboxerError } from "../../provider/errors";
import { assertWithin, sandboxDirectory } from "../../provider/workspace";

interface Row {
	readonly base_dir: string;
	readonly id: string;
	readonly dir?: string;
	readonly refuse?: string;
}

interface TamperedRow {
	readonly remote_dir: string;
	readonly on_disk?: string;
	readonly expect: string;
}

function rows<T>(file: string): T[] {
	return parse(readFileSync(join(__dirname, "../cases/16-delete-the-wrong-dir", file), "utf8"));
}

function refusalOf(call: () => unknown): SandboxerError {
	try {
		call();
	} catch (thrown) {
		if (thrown instanceof SandboxerError) return thrown;
		throw thrown;
	}
	throw new Error("It was not refused.");
}

describe("case 16, table.yaml", () => {
	// The last row is about what is on the disk: see remove-tree.test.ts.
	const all = rows<Row>("table.yaml");
	const byWords = all.filter(({ refuse }) => refuse === undefined || /^[a-z_]+$/.test(refuse));

	it("has one row about the disk", () => {
		expect(all.filter((row) => !byWords.includes(row))).toEqual([
			{ base_dir: "/home", id: "ci", refuse: "an existing directory without our marker" },
		]);
	});

	it.each(byWords.filter(({ dir }) => dir !== undefined).map((row) => [JSON.stringify(row), row] as const))(
		"%s",
		(_name, row) => {
			expect(sandboxDirectory(row.base_dir, row.id)).toBe(row.dir);
		},
	);

	it.each(byWords.filter(({ refuse }) => refuse !== undefined).map((row) => [JSON.stringify(row), row] as const))(
		"%s",
		(_name, row) => {
			const error = refusalOf(() => sandboxDirectory(row.base_dir, row.id));
			const value = row.refuse === "base_dir" ? row.base_dir : row.id;
			expect(error.code).toBe("invalid");
			expect(error.message).toContain(`${row.refuse} ${JSON.stringify(value)}`);
			expect(error.message).not.toContain("\0");
			expect(error.details).toMatchObject({ field: row.refuse, value });
			expect(error.hint).toBeDefined();
		},
	);
});

describe("a base_dir that is not in the table", () => {
	it.each([
		"//",
		"/./",
		"/srv/./sbx",
		"/srv//sbx",
		"/srv/sbx/..",
		"/srv/s\0x",
		"~/sbx",
		"~ci/sbx",
		"./sbx",
		" /srv/sbx",
	])("refuses %j", (baseDir) => {
		expect(refusalOf(() => sandboxDirectory(baseDir, "demo")).message).toContain(`base_dir ${JSON.stringify(baseDir)}`);
	});

	it.each(["/srv/sand boxes", "/srv/it's", "/srv/ünï", "/srv/..sbx", "/srv/-rf", "/srv/new\nline"])(
		"takes %j",
		(baseDir) => {
			expect(sandboxDirectory(`${baseDir}//`, "demo")).toBe(`${baseDir}/demo`);
		},
	);
});

describe("case 16, tampered-state.yaml, by words", () => {
	const byWords = rows<TamperedRow>("tampered-state.yaml").filter((row) => row.on_disk === undefined);

	it.each(byWords.map((row) => [JSON.stringify(row), row] as const))("%s", (_name, row) => {
		expect(row.expect).toBe("refuse");
		const error = refusalOf(() => assertWithin("/srv/sbx", "demo", row.remote_dir));
		expect(error.code).toBe("invalid");
		expect(error.message).toContain(`remote_dir ${JSON.stringify(row.remote_dir)}`);
		expect(error.message).toContain('"/srv/sbx/demo"');
		expect(error.details).toEqual({ field: "remote_dir", value: row.remote_dir, expected: "/srv/sbx/demo" });
	});

	it.each(["/srv/sbx/demo", "/srv/sbx/demo/"])("takes %j", (remoteDir) => {
		expect(() => assertWithin("/srv/sbx/", "demo", remoteDir)).not.toThrow();
	});

	it.each([
		"/srv/sbx//demo",
		"/srv/sbx/./demo",
		"srv/sbx/demo",
		"/srv/sbx/demo2",
		"/srv/sbx/demo/x",
		"/srv/sbx/demo\0",
	])("refuses %j", (remoteDir) => {
		expect(refusalOf(() => assertWithin("/srv/sbx", "demo", remoteDir)).details).toMatchObject({ field: "remote_dir" });
	});

	it("refuses a base_dir that is unacceptable, although remote_dir fits it", () => {
		expect(refusalOf(() => assertWithin("/", "etc", "/etc")).details).toMatchObject({ field: "base_dir" });
	});
});
