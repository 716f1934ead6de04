import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_LIMITS, inspectArchive, type Manifest } from "../../provider/snapshots";
import { itAsRoot, refusal } from "../workspace/scratch";
import { makeArchives, plantManifest } from "./support/plant";

const signal = new AbortController().signal;
const root = mkdtempSync(join(tmpdir(), "snapshots-"));
const archives = join(root, "archives");
beforeAll(() => makeArchives(archives));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Restores an archive as a caller does; the folder that it went to. */
async function restored(name: string, changes: Partial<Manifest> = {}, limits = DEFAULT_LIMITS): Promise<string> {
	const folder = join(archives, name);
	const directory = mkdtempSync(join(root, "into-"));
	const archive = await inspectArchive(folder, plantManifest(folder, name, changes), {
		limits,
		directory: root,
		signal,
	});
	try {
		await archive.unpack({ path: process.env.PATH ?? "", confinement: [], directory }, signal);
		return directory;
	} finally {
		await archive.close();
	}
}

/** Each refused archive, and how the message names what is wrong. */
const REFUSED: readonly (readonly [string, string])[] = [
	["absolute", 'member "/srv/elsewhere/abs" has an absolute name'],
	["dotdot", 'member "../up" has ".." in its name'],
	["dotdot-deep", 'member "a/b/../../../up" has ".." in its name'],
	["link-out", 'member "l" is a link that leads out ("../outside")'],
	["link-out-abs", 'member "l" is a link that leads out ("/etc/hostname")'],
	["link-out-by-link", 'member "l" is a link that leads out through others'],
	["write-through", 'member "d" is a link that leads out'],
	["write-through-in", 'member "d/f" is written through the link "d"'],
	["hardlink-out", 'member "h" is a hard link to what is no file of it ("../outside/secret")'],
	["hardlink-abs", 'member "h" is a hard link to what is no file of it ("/etc/hostname")'],
	["hardlink-link", 'member "s" is a link that leads out'],
	["hardlink-nothing", 'member "h" is a hard link to what is no file of it ("later")'],
	["hardlink-moves", 'member "h" is a link that leads out ("../../x")'],
	["device", 'member "dev" is a device'],
	["block-device", 'member "dev" is a device'],
	["fifo", 'member "pipe" is a fifo'],
	["contiguous", 'member "c" is of a type that no snapshot holds'],
	["setuid", 'member "su" is setuid or setgid'],
	["setgid-folder", 'member "sg/" is setuid or setgid'],
	["twice", 'member "same" is a link that leads out ("/etc/hostname")'],
	["twice-by-words", 'member "a/./same" is there twice'],
	["below-a-file", 'member "f/g" lies below "f", which is a file'],
	["name-of-a-folder", 'member "f" is there twice'],
	["sparse-name-out", 'member "../up" has ".." in its name'],
	["sparse-old", 'member "s" carries "GNU.sparse.map", which no snapshot holds'],
	["acl", 'member "a" carries "SCHILY.acl.access", which no snapshot holds'],
	["capability", 'member "a" carries "SCHILY.xattr.security.capability", which no snapshot holds'],
	["smuggled", 'member "h" is no file, but has a size'],
	["gnu-format", "it is not a tar archive of format pax"],
	["global-header", 'member "././@PaxHeader" is of a type that no snapshot holds'],
	["goes-on", "it goes on after its end"],
	["no-end", "it is cut short"],
	["cut-short", "it is cut short"],
	["empty", "it is cut short"],
	["no-gzip", "it is damaged, or no gzip file"],
];

it.each(REFUSED)("%s is refused whole: %s", async (name, words) => {
	const before = readdirSync(root);
	const { code, message } = await refusal(restored(name));
	expect(code).toBe("invalid");
	expect(message).toContain(words);
	expect(message).toContain(join(archives, name, "archive.tar.gz"));
	const made = readdirSync(root).filter((entry) => !before.includes(entry));
	expect(made.flatMap((entry) => readdirSync(join(root, entry)))).toEqual([]);
});

it("a bomb is refused by the limit on size, before it is read whole", async () => {
	const { message } = await refusal(
		restored("bomb", { unpacked_bytes: 4 * 1024 ** 3, file_count: 1 }, { ...DEFAULT_LIMITS, bytes: 1024 ** 3 }),
	);
	expect(message).toContain('member "zeros" is one too many: the archive holds more than 1073741824 bytes');
});

it("an archive of too many members is refused", async () => {
	const { message } = await refusal(restored("good", {}, { ...DEFAULT_LIMITS, members: 1 }));
	expect(message).toContain('member "dir/inner-link" is one too many: the archive holds more than 1 files');
});

it("an archive of too many names and attributes is refused", async () => {
	const { message } = await refusal(restored("good", {}, { ...DEFAULT_LIMITS, headers: 512 }));
	expect(message).toContain("is one too many: the archive holds more than 512 bytes of names and attributes");
});

itAsRoot("where there is no room to look at it, it is not restored, and that is said", async () => {
	const directory = mkdtempSync(join(root, "small-"));
	const folder = join(archives, "bomb");
	const manifest = plantManifest(folder, "bomb", { unpacked_bytes: 2 * 1024 ** 3, file_count: 1 });
	execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", directory]);
	try {
		const { code, message } = await refusal(
			inspectArchive(folder, manifest, { limits: DEFAULT_LIMITS, directory, signal }),
		);
		expect(code).toBe("preflight");
		expect(message).toContain(`could not be read into ${directory}: ENOSPC: no space left on device`);
		expect(readdirSync(directory)).toEqual([]);
	} finally {
		execFileSync("umount", [directory]);
	}
});

it.each([
	[
		"more bytes than its manifest tells of",
		{ unpacked_bytes: 1 },
		'member "dir/file" is more than the manifest tells of',
	],
	["more files than its manifest tells of", { file_count: 0 }, 'member "dir/file" is more than the manifest tells of'],
	["fewer files than its manifest tells of", { file_count: 3 }, "it holds less than its manifest tells of"],
	["another sum than its manifest's", { sha256: "1".repeat(64) }, "it is not the one that its manifest tells of"],
])("an archive of %s is refused", async (_what, changes, words) => {
	expect((await refusal(restored("good", changes))).message).toContain(words);
});

it("sums that are not those of the manifest are refused", async () => {
	const { message } = await refusal(restored("good", { sums_sha256: "1".repeat(64) }));
	expect(message).toContain("it has other sums than its manifest tells of");
});

it("where the archive is another, its member that is another is named", async () => {
	const sums = join(archives, "good", "files.jsonl");
	const honest = readFileSync(sums, "utf8");
	try {
		for (const other of [honest.replace(/"sha256":"./, '"sha256":"x'), ""]) {
			writeFileSync(sums, other);
			const { message } = await refusal(restored("good", { sha256: "1".repeat(64) }));
			expect(message).toContain('member "dir/file" is not what its sum tells of');
		}
	} finally {
		writeFileSync(sums, honest);
	}
});

it("good is restored", async () => {
	const into = await restored("good");
	expect(readFileSync(join(into, "dir/inner-link"), "utf8")).toBe("canary");
});

it("newline-name is restored", async () => {
	expect(readdirSync(await restored("newline-name"))).toEqual(["a\nb"]);
});

it("foreign-owner is restored as whoever restores", async () => {
	const { uid, gid } = statSync(join(await restored("foreign-owner"), "mine"));
	expect([uid, gid]).toEqual([process.getuid?.(), process.getgid?.()]);
});

it("tar writes over nothing that is there", async () => {
	const folder = join(archives, "good");
	const directory = mkdtempSync(join(root, "into-"));
	execFileSync("mkdir", [join(directory, "dir")]);
	writeFileSync(join(directory, "dir/file"), "mine");
	const archive = await inspectArchive(folder, plantManifest(folder, "good"), {
		limits: DEFAULT_LIMITS,
		directory: root,
		signal,
	});
	const { code, message } = await refusal(
		archive.unpack({ path: process.env.PATH ?? "", confinement: [], directory }, signal).finally(() => archive.close()),
	);
	expect(code).toBe("preflight");
	expect(message).toContain("File exists");
	expect(readFileSync(join(directory, "dir/file"), "utf8")).toBe("mine");
});
