import { execFileSync } from "node:child_process";
import { readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { copyTree } from "../../provider/workspace";
import { refusal, Scratch, untilDone } from "./scratch";

const options = { signal: untilDone };

let scratch: Scratch;
let source: string;
let target: string;
beforeEach(() => {
	scratch = new Scratch();
	source = scratch.directory("tree");
	target = scratch.directory("base/demo");
	scratch.file("out/secret", "canary-out");
});
afterEach(() => scratch.clean());

describe("links", () => {
	it("that stay in the tree are carried, also dangling ones and loops", async () => {
		const links = {
			"sub/up": "../file",
			loop: ".",
			a: "b",
			b: "a",
			dangling: "sub/absent",
			"sub/self": "../sub/self",
			through: "loop/loop/sub/up",
			dots: "./sub/.././sub//up/",
		};
		scratch.file("tree/file");
		scratch.directory("tree/sub");
		for (const [name, to] of Object.entries(links)) symlinkSync(to, join(source, name));
		await copyTree(source, target, options);
		for (const [name, to] of Object.entries(links)) expect(readlinkSync(join(target, name))).toBe(to);
	});

	it("of case 21 are refused by name, all at once, before anything is copied", async () => {
		scratch.directory("tree/sub");
		scratch.file("tree/first");
		symlinkSync(scratch.path("out/secret"), join(source, "leak"));
		symlinkSync(scratch.path("out"), join(source, "outdir"));
		symlinkSync("../sub/../../out/secret", join(source, "sub/relative-leak"));
		symlinkSync("/", join(source, "root"));
		symlinkSync(".", join(source, "loop"));
		const error = await refusal(copyTree(source, target, options));
		expect(error.code).toBe("invalid");
		expect(error.details).toMatchObject({
			field: "inputs.repo",
			paths: ["leak", "outdir", "root", "sub/relative-leak"],
		});
		expect(error.message).toContain(`inputs.repo ${JSON.stringify(source)}`);
		expect(error.message).toContain(
			'"sub/relative-leak" is a symbolic link to "../sub/../../out/secret", which leads out of the tree',
		);
		expect(readdirSync(target)).toEqual([]);
	});

	it.each([
		["a way out and in again", { leak: "../tree/file" }],
		["an absolute target within", { leak: "/proc/self/cwd" }],
		["words that stay, but another link on the way", { "sub/up": "../sub", "sub/here": ".", leak: "sub/here/../.." }],
		["words that leave, although the disk would stay", { deep: "sub/inner", leak: "deep/../.." }],
		["a chain", { one: "sub/two", "sub/two": "../three", three: "..", leak: "one/out" }],
	])("are refused for %s", async (_name, links) => {
		scratch.directory("tree/sub/inner");
		scratch.file("tree/file");
		for (const [name, to] of Object.entries(links)) symlinkSync(to, join(source, name));
		expect((await refusal(copyTree(source, target, options))).details.paths).toContain("leak");
		expect(readdirSync(target)).toEqual([]);
	});

	it("cannot be put in a directory's place during the copy", async () => {
		for (let index = 0; index < 400; index += 1) scratch.file(`tree/dir/${index % 8}/${index}`, "inside");
		for (let index = 0; index < 400; index += 1) scratch.file(`out/${index % 8}/${index}`, "canary-out");
		let copies = 0;
		const stop = performance.now() + 2_000;
		while (copies < 2 || performance.now() < stop) {
			const to = scratch.directory(`base/${copies}`);
			const copying = copyTree(source, to, options).catch((thrown: unknown) => thrown);
			let goesOn = true;
			const swapping = (async () => {
				for (const wait = () => new Promise((resolve) => setImmediate(resolve)); goesOn; await wait()) {
					renameSync(join(source, "dir"), join(source, "away"));
					symlinkSync("../out", join(source, "dir"));
					await wait();
					rmSync(join(source, "dir"));
					renameSync(join(source, "away"), join(source, "dir"));
				}
			})();
			await copying;
			goesOn = false;
			await swapping;
			copies += 1;
		}
		const leaked = execFileSync("sh", ["-c", 'grep -rl canary-out "$1" || true', "sh", scratch.path("base")], {
			encoding: "utf8",
		});
		expect(leaked).toBe("");
	}, 30_000);
});
