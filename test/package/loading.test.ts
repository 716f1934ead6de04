import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadExtensions, loadProfile, searchFrom } from "../../provider/registry";

const REPOSITORY = join(__dirname, "../..");

/** What a script prints as JSON; its first argument is the built package's folder. */
function printedBy(script: string, dist = join(REPOSITORY, "dist")): unknown {
	return JSON.parse(
		execFileSync(process.execPath, ["-e", script, dist], { encoding: "utf8", maxBuffer: 64 << 20 }),
	) as unknown;
}

const NAMES = 'const { join } = require("node:path"); const [, dist] = process.argv;';
const REGISTRY = `${NAMES} const { loadProfile, loadExtensions, searchFrom } = require(join(dist, "provider/registry"));
const search = searchFrom({ cwd: dist });`;
const FILES = "console.log(JSON.stringify(Object.keys(require.cache)));";
const heavy = (files: unknown) => (files as string[]).filter((file) => /node_modules\/(zod|yaml)\//.test(file));

describe("loading the package", () => {
	it("needs neither YAML nor schemas to be imported", () => {
		const files = printedBy(`${NAMES} require(join(dist, "components")); ${FILES}`);
		expect(files).toContain(join(REPOSITORY, "dist/components/index.js"));
		expect(heavy(files)).toEqual([]);
	});

	it("needs neither for its own profiles and extensions: they were judged when it was built", () => {
		const files = printedBy(`${REGISTRY} loadProfile("bwrap-local", search); loadExtensions(search); ${FILES}`);
		expect(heavy(files)).toEqual([]);
	});

	it("has them as its files say, defaults filled in", () => {
		const search = searchFrom({ cwd: REPOSITORY });
		const script = `${REGISTRY} console.log(JSON.stringify([loadProfile("agent-dev", search).profile, loadExtensions(search)]));`;
		const [profile, extensions] = printedBy(script) as [unknown, Record<string, unknown>[]];
		expect(profile).toEqual(loadProfile("agent-dev", search).profile);
		const withoutFile = ({ file: _file, ...declaration }: Record<string, unknown>) => declaration;
		expect(extensions.map(withoutFile)).toEqual(
			loadExtensions(search).map((declaration) => withoutFile({ ...declaration })),
		);
	});

	describe("a copy of it whose profile somebody has changed", () => {
		let folder: string;
		beforeEach(() => {
			folder = mkdtempSync(join(tmpdir(), "sandboxer-changed-"));
			cpSync(join(REPOSITORY, "dist"), join(folder, "dist"), { recursive: true });
			symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
		});
		afterEach(() => rmSync(folder, { recursive: true }));

		it("reads the file, strictly, not what it was", () => {
			appendFileSync(join(folder, "dist/profiles/profile.bwrap-local.yaml"), "colour: red\n");
			const script = `${REGISTRY} try { loadProfile("bwrap-local", search); } catch (thrown) { console.log(JSON.stringify(thrown.message)); }`;
			expect(printedBy(script, join(folder, "dist"))).toMatch(
				/profiles\/profile\.bwrap-local\.yaml:\d+: colour: is not a known key/,
			);
		});
	});
});
