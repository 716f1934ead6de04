import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { findProgram } from "../../provider/transport";

describe("findProgram", () => {
	let folder: string;
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "find-program-"));
		for (const name of ["first", "second", "folders"]) mkdirSync(join(folder, name));
		for (const [name, mode] of [
			["first/plain", 0o644],
			["second/plain", 0o755],
			["first/tool", 0o755],
			["second/tool", 0o755],
		] as const) {
			writeFileSync(join(folder, name), "");
			chmodSync(join(folder, name), mode);
		}
		mkdirSync(join(folder, "folders", "tool"));
	});
	afterAll(() => rmSync(folder, { recursive: true }));

	const on = (...folders: string[]) => folders.map((name) => join(folder, name)).join(":");

	it("takes the first on the PATH", () => {
		expect(findProgram("tool", on("first", "second"))).toBe(join(folder, "first/tool"));
		expect(findProgram("tool", on("second", "first"))).toBe(join(folder, "second/tool"));
	});

	it("passes by folders, and files that cannot be run", () => {
		expect(findProgram("tool", on("folders", "missing", "second"))).toBe(join(folder, "second/tool"));
		expect(findProgram("plain", on("first", "second"))).toBe(join(folder, "second/plain"));
	});

	it("finds nothing in relative folders, nor in an empty PATH", () => {
		expect(findProgram("tool", relative(process.cwd(), join(folder, "first")))).toBeUndefined();
		expect(findProgram("tool", "")).toBeUndefined();
		expect(findProgram("tool", ":.:")).toBeUndefined();
	});
});
