import fs, { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UnnamedFile } from "../../provider/transport";

const folder = mkdtempSync(join(tmpdir(), "unnamed-"));
afterEach(() => jest.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true }));

/** What open(2) says of O_TMPFILE on a file system that has none. */
function refuseUnnamed(): void {
	const { openSync } = fs;
	jest.spyOn(fs, "openSync").mockImplementation((path, flags, mode) => {
		if (path !== folder) return openSync(path, flags, mode);
		throw Object.assign(new Error("ENOTSUP: operation not supported on socket, open"), {
			code: "ENOTSUP",
			syscall: "open",
		});
	});
}

it.each([
	["on this file system", "", () => undefined],
	["on one that makes no file without a name", ".sandboxer-", refuseUnnamed],
])("holds what was written, and no folder holds it, %s", async (_where, name, before) => {
	before();
	const made = new UnnamedFile(folder);
	made.writeSync(Buffer.from("one "));
	await made.write(Buffer.from("two"));
	expect(readdirSync(folder)).toEqual([]);
	const descriptors = [made.open(), made.open()];
	try {
		expect(descriptors.map((descriptor) => readFileSync(descriptor, "utf8"))).toEqual(["one two", "one two"]);
		expect(readlinkSync(`/proc/self/fd/${descriptors[0]}`)).toContain(join(folder, name));
		expect(() => fs.writeSync(descriptors[0] as number, "x")).toThrow("EBADF");
	} finally {
		for (const descriptor of descriptors) fs.closeSync(descriptor);
		await made.close();
	}
});

it("says where it could not be made", () => {
	expect(() => new UnnamedFile(join(folder, "none"))).toThrow(/ENOENT.*none/);
});

it("is closed once what is being written is written, and takes nothing more", async () => {
	const made = new UnnamedFile(folder);
	const descriptor = made.open();
	try {
		const bytes = Buffer.alloc(64 * 1024 * 1024, "x");
		const writing = made.write(bytes);
		await made.close();
		expect(fs.fstatSync(descriptor).size).toBe(bytes.length);
		await writing;
		await expect(made.write(bytes)).rejects.toThrow("closed");
	} finally {
		fs.closeSync(descriptor);
	}
});
