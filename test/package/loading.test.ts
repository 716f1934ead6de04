import { execFileSync } from "node:child_process";
import { join } from "node:path";

const REPOSITORY = join(__dirname, "../..");

describe("importing the package", () => {
	it("loads neither YAML nor schemas: they are for whoever declares or opens a sandbox", () => {
		const script = "require(process.argv[1]); console.log(JSON.stringify(Object.keys(require.cache)))";
		const main = join(REPOSITORY, "dist/components/index.js");
		const printed = execFileSync(process.execPath, ["-e", script, main], { encoding: "utf8", maxBuffer: 64 << 20 });
		const files = JSON.parse(printed) as string[];
		expect(files).toContain(main);
		expect(files.filter((file) => /node_modules\/(zod|yaml)\//.test(file))).toEqual([]);
	});
});
