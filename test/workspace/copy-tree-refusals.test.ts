import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { copyTree } from "../../provider/workspace";
import { itAsRoot, NOBODY, refusal, Scratch, untilDone } from "./scratch";

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

describe("what cannot be carried", () => {
	it("fifos and sockets are refused by name", async () => {
		execFileSync("mkfifo", [join(source, "a fifo")]);
		scratch.file("tree/first");
		const server = createServer().listen(join(source, "socket"));
		await new Promise((resolve) => server.once("listening", resolve));
		try {
			const error = await refusal(copyTree(source, target, options));
			expect(error.message).toContain('"a fifo" is a fifo; "socket" is a socket');
			expect(error.details).toMatchObject({ field: "inputs.repo", paths: ["a fifo", "socket"] });
		} finally {
			await new Promise((resolve) => server.close(resolve));
		}
		expect(readdirSync(target)).toEqual([]);
	});

	itAsRoot("devices are refused by name", async () => {
		execFileSync("mknod", [join(source, "null"), "c", "1", "3"]);
		expect((await refusal(copyTree(source, target, options))).message).toContain('"null" is a device');
	});

	it("ten names are written out, the rest is counted", async () => {
		for (let index = 0; index < 13; index += 1) symlinkSync("/", join(source, `link-${index}`));
		expect((await refusal(copyTree(source, target, options))).message).toContain("and 3 more");
	});

	itAsRoot("what this user may not read is named", async () => {
		scratch.file("tree/sub/private");
		chmodSync(join(source, "sub/private"), 0);
		execFileSync("chown", ["-R", `${NOBODY.uid}`, scratch.path("base"), scratch.root]);
		execFileSync("chown", ["0", join(source, "sub/private")]);
		process.seteuid?.(NOBODY.uid);
		const error = await refusal(copyTree(source, target, options)).finally(() => process.seteuid?.(0));
		expect(error.code).toBe("invalid");
		expect(error.message).toContain('"sub/private" cannot be read: EACCES: permission denied.');
	});

	itAsRoot("a full disk is named", async () => {
		writeFileSync(join(source, "large"), Buffer.alloc(2_000_000));
		scratch.mount(target, "-t", "tmpfs", "-o", "size=1m", "tmpfs");
		const error = await refusal(copyTree(source, target, options));
		expect(error.code).toBe("preflight");
		expect(error.message).toContain('"large" cannot be written');
		expect(error.message).toContain("ENOSPC");
	});

	it("a source that is not there, or a file", async () => {
		for (const name of ["absent", "out/secret"]) {
			const error = await refusal(copyTree(scratch.path(name), target, options));
			expect(error.code).toBe("invalid");
			expect(error.message).toContain(`inputs.repo ${JSON.stringify(scratch.path(name))} cannot be opened`);
		}
	});

	it("a target that is not empty, a link, or absent", async () => {
		scratch.file("base/full/file");
		symlinkSync("demo", scratch.path("base/link"));
		for (const name of ["full", "link", "absent"]) {
			const error = await refusal(copyTree(source, scratch.path("base", name), options));
			expect(error.code).toBe("conflict");
			expect(error.message).toContain(JSON.stringify(scratch.path("base", name)));
		}
	});

	it("a source that holds the target", async () => {
		const inner = scratch.directory("tree/base/demo");
		expect((await refusal(copyTree(source, inner, options))).message).toContain("would be copied into itself");
		expect((await refusal(copyTree(inner, inner, options))).message).toContain("would be copied into itself");
	});
});
