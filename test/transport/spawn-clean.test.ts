import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Staged } from "../extensions/bwrap/support/staged";

describe("spawnClean", () => {
	const staged = new Staged();
	const folder = mkdtempSync(join(tmpdir(), "spawn-clean-"));
	const secret = join(folder, "secret");
	writeFileSync(secret, "");
	afterAll(() => {
		staged.remove();
		rmSync(folder, { recursive: true });
	});

	/** What a process that inherited descriptors of a file, and variables, does with spawnClean; what it prints. */
	function inheritor(inherited: readonly number[], script: string): string {
		const file = openSync(secret, "r");
		try {
			const stdio = Array.from({ length: Math.max(2, ...inherited) + 1 }, (_, index) =>
				inherited.includes(index) ? file : ("ignore" as const),
			);
			const modules = JSON.stringify(join(staged.folder, "provider/transport"));
			const text = `const { spawnClean, strayDescriptors } = require(${modules}); const fs = require("node:fs"); ${script}`;
			const { stdout, stderr, status } = spawnSync(staged.node, ["-e", text], {
				stdio: ["ignore", "pipe", "pipe", ...stdio.slice(3)],
				env: { PATH: process.env["PATH"], CANARY: "of the parent" },
				encoding: "utf8",
			});
			expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
			return stdout;
		} finally {
			closeSync(file);
		}
	}

	/** Descriptor → where it leads, of a child that lists its own. */
	function descriptorsOfChild(inherited: readonly number[], stdio = "[]"): Map<number, string> {
		const listing = `spawnClean("/bin/ls", ["-l", "/proc/self/fd"], { env: {}, stdio: ["ignore", 1, 2, ...${stdio}] })`;
		const printed = inheritor(inherited, listing);
		return new Map([...printed.matchAll(/ (\d+) -> (.*)$/gm)].map(([, index, target = ""]) => [Number(index), target]));
	}

	it("hands on none of the descriptors that its process inherited", () => {
		const seen = descriptorsOfChild([37, 41, 50]);
		expect([...seen.values()].filter((target) => target === secret)).toEqual([]);
		expect([37, 41, 50].map((index) => seen.get(index))).toEqual(Array(3).fill("/dev/null"));
		expect(seen.has(38)).toBe(false);
	});

	it("hands on the descriptors that were named, at their numbers, over inherited ones too", () => {
		const seen = descriptorsOfChild(
			[30, 37],
			'[fs.openSync("/proc/version"), ...Array(33), fs.openSync("/proc/version")]',
		);
		expect([seen.get(3), seen.get(37)]).toEqual(["/proc/version", "/proc/version"]);
		expect([...seen.values()]).not.toContain(secret);
	});

	it("tells which ones a child would inherit, from a number on", () => {
		const printed = inheritor(
			[37, 41, 50],
			"console.log(JSON.stringify([strayDescriptors(3), strayDescriptors(41)]));",
		);
		const [all, fromThere] = JSON.parse(printed) as [number[], number[]];
		expect(all).toEqual(expect.arrayContaining([37, 41, 50]));
		expect(fromThere).toEqual(all.filter((descriptor) => descriptor >= 41));
		expect(fromThere).toEqual(expect.arrayContaining([41, 50]));
	});

	it("hands on none of the pipes that are kept ahead, and looks at others under their numbers again", () => {
		const listing = 'spawnClean("/bin/ls", ["-l", "/proc/self/fd"], { env: {}, stdio: ["ignore", 1, 2] })';
		const printed = inheritor(
			[37],
			`const { makePipes } = require(${JSON.stringify(join(staged.folder, "provider/transport"))});
			makePipes(1, process.env.PATH, undefined).then(([{ reader, writer }]) => {
				${listing}.once("exit", () => console.log(JSON.stringify(strayDescriptors(3).filter((n) => n === reader || n === writer))));
			});`,
		);
		expect(printed).toContain("37 -> /dev/null");
		expect(printed).not.toMatch(/-> (pipe:|\/tmp\/sandboxer-pipes)/);
		expect(printed.trim().split("\n").pop()).toBe("[]");
	});

	it("is not put off by what other threads open and close meanwhile", () => {
		const script = `
			const { Worker } = require("node:worker_threads");
			const other = new Worker('const fs = require("node:fs"); for (;;) fs.closeSync(fs.openSync("/dev/null"));', { eval: true });
			other.once("online", () => {
				for (const end = Date.now() + 1000; Date.now() < end; ) strayDescriptors(3);
				process.exit(0);
			});`;
		expect(inheritor([], script)).toBe("");
	});

	it("leaves no descriptor of its own open", () => {
		const count = 'fs.readdirSync("/proc/self/fd").length';
		const script = `const before = ${count}; for (let i = 0; i < 5; i++) spawnClean("true", [], { env: {}, stdio: [] }); console.log(${count} - before);`;
		expect(Number(inheritor([37], script.replace('"true"', '"/bin/true"')))).toBeLessThanOrEqual(1);
	});

	it("gives the environment named and nothing else, and / to work in", () => {
		const script =
			'spawnClean("/bin/sh", ["-c", "pwd; /usr/bin/env"], { env: { ONLY: "1" }, stdio: ["ignore", 1, 2] })';
		expect(inheritor([], script)).toBe("/\nONLY=1\nPWD=/\n");
	});

	it("is needed: Node itself hands them on", () => {
		const script =
			'require("node:child_process").spawn("/bin/ls", ["-l", "/proc/self/fd"], { stdio: ["ignore", 1, 2] })';
		expect(inheritor([37], script)).toContain(`37 -> ${secret}`);
	});
});
