import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeDurably } from "../../provider/records";

describe("writeDurably", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "write-durably-"));
	});
	afterEach(() => rmSync(folder, { recursive: true }));

	it("writes a file, and leaves nothing beside it", async () => {
		const file = join(folder, "record.json");
		await writeDurably(file, "one\n");
		await writeDurably(file, "two\n");
		expect(readFileSync(file, "utf8")).toBe("two\n");
		expect(readdirSync(folder)).toEqual(["record.json"]);
	});

	it("gives it the mode asked for, whatever the umask: its owner's alone by default", async () => {
		const umask = process.umask(0o077);
		try {
			await writeDurably(join(folder, "private"), "");
			await writeDurably(join(folder, "public"), "", 0o644);
		} finally {
			process.umask(umask);
		}
		expect(["private", "public"].map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o644]);
	});

	it("replaces the file as a whole: whoever reads sees the old text or the new one", async () => {
		const file = join(folder, "record.json");
		const texts = ["a", "b"].map((letter) => letter.repeat(200_000));
		await writeDurably(file, texts[0] ?? "");
		let writing = true;
		const writes = (async () => {
			for (let i = 1; i < 20; i++) await writeDurably(file, texts[i % 2] ?? "");
			writing = false;
		})();
		while (writing) {
			expect(texts.includes(readFileSync(file, "utf8"))).toBe(true);
			await new Promise((resolve) => setImmediate(resolve));
		}
		await writes;
	});

	it("is seen by a folder that is bound or held open: the name is what changes", async () => {
		const file = join(folder, "deadline");
		writeFileSync(file, "1");
		const before = statSync(file).ino;
		await writeDurably(file, "2");
		expect(statSync(file).ino).not.toBe(before);
	});

	it("keeps the old text and leaves nothing beside it where it cannot write", async () => {
		const file = join(folder, "taken");
		mkdirSync(join(file, "inner"), { recursive: true });
		await expect(writeDurably(file, "text")).rejects.toThrow(/EISDIR|ENOTEMPTY/);
		expect(readdirSync(folder)).toEqual(["taken"]);
		await expect(writeDurably(join(folder, "no/such"), "text")).rejects.toThrow(/ENOENT/);
	});
});
