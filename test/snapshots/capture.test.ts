import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	DEFAULT_LIMITS,
	type InspectedArchive,
	type Manifest,
	SnapshotStore,
	type TakeOptions,
} from "../../provider/snapshots";
import { processesOf } from "../extensions/bwrap/support/traces";
import { itAsRoot, NOBODY, refusal } from "../workspace/scratch";
import { describeTree, makeTree } from "./support/a-tree";

const path = process.env.PATH ?? "";
const untilDone = new AbortController().signal;

let root: string;
let tree: string;
let store: SnapshotStore;
let helpers: ChildProcess[];
beforeEach(() => {
	root = mkdtempSync(join(tmpdir(), "snapshots-"));
	tree = join(root, "tree");
	mkdirSync(tree);
	store = new SnapshotStore(join(root, "store"), path, Date.now);
	helpers = [];
});
afterEach(async () => {
	for (const helper of helpers) {
		// Its pipes close when the last program that it started has ended too: such a one would still change the tree.
		const closed = once(helper, "close");
		helper.kill("SIGKILL");
		await closed;
	}
	execFileSync("chmod", ["-R", "u+rwX", root]);
	rmSync(root, { recursive: true, force: true });
});

function options(changes: Partial<TakeOptions> = {}): TakeOptions {
	return {
		what: "sandbox box",
		path,
		confinement: [],
		directory: tree,
		limits: DEFAULT_LIMITS,
		signal: untilDone,
		timeoutSeconds: 60,
		around: async (write, exist) => {
			await write();
			await exist();
		},
		...changes,
	};
}

function take(snapshot_id = "one", changes: Partial<TakeOptions> = {}): Promise<Manifest> {
	const facts = {
		extension: "ext.bwrap",
		snapshot_id,
		sandbox_id: "box",
		generation: 1,
		profile: { id: "profile.test", version: "1" },
		created_at: new Date().toISOString(),
		labels: { purpose: "test" },
	};
	return store.take(facts, options(changes));
}

function inspected(manifest: Manifest): Promise<InspectedArchive> {
	return store.inspect(manifest, { limits: DEFAULT_LIMITS, directory: root, signal: untilDone });
}

async function restored(manifest: Manifest): Promise<string> {
	const into = mkdtempSync(join(root, "into-"));
	const archive = await inspected(manifest);
	try {
		await archive.unpack({ path, confinement: [], directory: into }, untilDone);
	} finally {
		await archive.close();
	}
	return into;
}

/** Nothing of a snapshot that was not taken: neither one with a name nor anything unfinished. */
function expectNothing(): void {
	expect(readdirSync(store.directory)).toEqual([]);
}

/** A tar that does something of its own; its path is the PATH's first. */
function otherTar(script: string): string {
	const bin = join(root, "bin");
	mkdirSync(bin);
	writeFileSync(join(bin, "tar"), `#!/bin/sh\n[ "$1" = --version ] && exec /bin/tar --version\n${script}\n`, {
		mode: 0o755,
	});
	return `${bin}:${path}`;
}

it("tar exits 0: the snapshot is kept, and a restore is the same tree to the byte", async () => {
	makeTree(tree);
	const manifest = await take();
	expect(manifest).toMatchObject({
		consistent: true,
		changed: [],
		left_out: [],
		sandbox_id: "box",
		labels: { purpose: "test" },
	});
	const archive = readFileSync(store.archive("one"));
	expect(archive.length).toBe(manifest.size_bytes);
	expect(execFileSync("sha256sum", [store.archive("one")], { encoding: "utf8" })).toContain(manifest.sha256);
	const into = await restored(manifest);
	expect(describeTree(into)).toEqual(describeTree(tree));
	expect(statSync(join(into, "sparse")).blocks).toBeLessThan(1024);
});

it("sums of the single files stand beside the archive, a name that is no text by its bytes", async () => {
	makeTree(tree);
	const manifest = await take();
	const lines = readFileSync(join(store.folder("one"), "files.jsonl"), "utf8")
		.trim()
		.split("\n");
	const sums = lines.map(
		(line) => JSON.parse(line) as { path?: string; path_hex?: string; size: number; sha256: string },
	);
	const [sum] = execFileSync("sha256sum", [join(tree, "src/private")], { encoding: "utf8" }).split(" ");
	expect(sums).toContainEqual({ path: "./src/private", size: 4, sha256: sum });
	expect(sums.filter(({ path_hex }) => path_hex !== undefined)).toHaveLength(1);
	// Three symbolic ones, one hard.
	const links = 4;
	expect(sums).toHaveLength(manifest.file_count - links);
	expect(sums.reduce((total, { size }) => total + size, 0)).toBe(manifest.unpacked_bytes);
});

it("what a snapshot consists of is for its owner alone", async () => {
	await take();
	const modes = ["", "one", ...["archive.tar.gz", "files.jsonl", "manifest.json"].map((name) => join("one", name))];
	expect(modes.map((name) => statSync(join(store.directory, name)).mode & 0o777)).toEqual([
		0o700, 0o700, 0o600, 0o600, 0o600,
	]);
	expect(readdirSync(store.directory)).toEqual(["one"]);
});

it("tar exits 1 (a file changed while it was read): kept, marked as not consistent, and told", async () => {
	const [log, bytes] = [join(tree, "log"), 4 * 1024 * 1024];
	writeFileSync(log, randomBytes(bytes));
	helpers.push(spawn("sh", ["-c", 'while :; do echo more >>"$1"; done', "sh", log]));
	while (statSync(log).size === bytes) await new Promise((resolve) => setTimeout(resolve, 10));
	const manifest = await take();
	expect(manifest).toMatchObject({ consistent: false, changed: ["log"], changed_count: 1 });
	expect(readdirSync(await restored(manifest))).toEqual(["log"]);
});

itAsRoot("tar exits 2: the snapshot fails, what tar said is told, no file with the final name exists", async () => {
	writeFileSync(join(tree, "shut"), "x", { mode: 0o000 });
	execFileSync("chown", ["-R", `${NOBODY.uid}:${NOBODY.gid}`, tree]);
	execFileSync("chmod", ["755", root]);
	const confinement = ["setpriv", "--reuid", String(NOBODY.uid), "--regid", String(NOBODY.gid), "--clear-groups"];
	const { code, message } = await refusal(take("one", { confinement }));
	expect(code).toBe("unknown");
	expect(message).toMatch(/tar ended with 2: .*shut: Cannot open: Permission denied/);
	expectNothing();
});

it.each([
	["the writer is cut off in the middle", 'exec /bin/tar "$@" | head -c 700000', "tar ended with"],
	["the writer is killed in the middle", '/bin/tar "$@" | head -c 700000; kill -KILL $$', "tar ended with SIGKILL"],
	["the writer ends early without a word", "exit 0", "it is cut short"],
])("%s: no file with the final name exists", async (_what, script, words) => {
	writeFileSync(join(tree, "file"), randomBytes(1024 * 1024));
	const { message } = await refusal(take("one", { path: otherTar(script) }));
	expect(message).toContain(words === "tar ended with" ? "cut short" : words);
	expectNothing();
});

itAsRoot("disk full: nothing is left, and the message names the path", async () => {
	writeFileSync(join(tree, "file"), randomBytes(8 * 1024 * 1024));
	mkdirSync(store.directory);
	execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", store.directory]);
	try {
		const { code, message } = await refusal(take());
		expect(code).toBe("preflight");
		expect(message).toContain(store.directory);
		expect(message).toContain("no space left on device");
		expectNothing();
	} finally {
		execFileSync("umount", [store.directory]);
	}
});

it("the caller stops: nothing is left, and no tar runs on", async () => {
	writeFileSync(join(tree, "file"), randomBytes(64 * 1024 * 1024));
	const stop = new AbortController();
	const tars = () => processesOf(`--directory=${tree}`);
	const taking = refusal(take("one", { signal: stop.signal }));
	while (tars().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
	stop.abort();
	expect((await taking).code).toBe("aborted");
	expectNothing();
	expect(tars()).toEqual([]);
});

it("the tree is not what it was when all is written: it does not exist", async () => {
	const gone = new Error("torn down meanwhile");
	await expect(take("one", { around: (write) => write().then(() => Promise.reject(gone)) })).rejects.toThrow(
		"torn down meanwhile",
	);
	expectNothing();
});

it("two of one sandbox at once: two snapshots; of one id: one, and a conflict", async () => {
	writeFileSync(join(tree, "file"), randomBytes(1024 * 1024));
	const both = await Promise.all([take("one"), take("two")]);
	expect(both.map(({ snapshot_id }) => snapshot_id)).toEqual(["one", "two"]);
	const same = await Promise.allSettled([take("three"), take("three")]);
	expect(same.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
	expect(same.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
	expect(readdirSync(store.directory).sort()).toEqual(["one", "three", "two"]);
});

it.each(["../x", "a b", "", ".hidden", "a/b", "A", "-x", "x\n"])("the id %j is refused", async (id) => {
	expect(await refusal(take(id))).toMatchObject({ code: "invalid", details: { field: "snapshotId", value: id } });
	expect(existsSync(store.directory)).toBe(false);
});

it("sockets, fifos, devices and links that lead out are left out and told; the rest is restored", async () => {
	makeTree(tree);
	const server = createServer().listen(join(tree, "sock"));
	try {
		execFileSync("mkfifo", [join(tree, "pipe")]);
		if (process.geteuid?.() === 0) execFileSync("mknod", [join(tree, "node"), "c", "1", "3"]);
		symlinkSync("/etc/hostname", join(tree, "absolute"));
		symlinkSync("../../outside", join(tree, "empty/up"));
		execFileSync("ln", ["-P", join(tree, "absolute"), join(tree, "absolute-2")]);
		const manifest = await take();
		expect(manifest.left_out).toEqual(
			expect.arrayContaining([
				{ path: "sock", reason: "is a socket" },
				{ path: "pipe", reason: "is a fifo" },
				{ path: expect.stringMatching(/^absolute/), reason: 'is a link that leads out ("/etc/hostname")' },
				{
					path: expect.stringMatching(/^absolute/),
					reason: expect.stringContaining("is a hard link to what is no file of it"),
				},
				{ path: "empty/up", reason: 'is a link that leads out ("../../outside")' },
			]),
		);
		expect(manifest.left_out_count).toBe(process.geteuid?.() === 0 ? 6 : 5);
		const left = ["/sock", "/pipe", "/node", "/absolute", "/absolute-2", "/empty/up"];
		const isLeft = (line: string) => left.includes((JSON.parse(line) as { name: string }).name);
		expect(describeTree(await restored(manifest))).toEqual(describeTree(tree).filter((line) => !isLeft(line)));
	} finally {
		server.close();
	}
});

it("where the last member is left out, the archive has its end all the same", async () => {
	execFileSync("mkfifo", [join(tree, "only")]);
	const manifest = await take();
	expect(manifest.left_out).toEqual([{ path: "only", reason: "is a fifo" }]);
	expect(readdirSync(await restored(manifest))).toEqual([]);
});

it("setuid, setgid and sticky are not kept, and so never restored", async () => {
	writeFileSync(join(tree, "su"), "x");
	mkdirSync(join(tree, "folder"));
	execFileSync("chmod", ["6755", join(tree, "su")]);
	execFileSync("chmod", ["3777", join(tree, "folder")]);
	const into = await restored(await take());
	expect(statSync(join(into, "su")).mode & 0o7777).toBe(0o755);
	expect(statSync(join(into, "folder")).mode & 0o7777).toBe(0o777);
});

it("an empty tree is kept too", async () => {
	const manifest = await take();
	expect(manifest).toMatchObject({ file_count: 0, unpacked_bytes: 0 });
	expect(readdirSync(await restored(manifest))).toEqual([]);
});

it("a tree over a limit is not kept", async () => {
	writeFileSync(join(tree, "file"), randomBytes(2048));
	const bytes = await refusal(take("one", { limits: { ...DEFAULT_LIMITS, bytes: 1024 } }));
	expect(bytes).toMatchObject({ code: "unsupported", message: expect.stringContaining("holds more than 1024 bytes") });
	const members = await refusal(take("one", { limits: { ...DEFAULT_LIMITS, members: 1 } }));
	expect(members.message).toContain("holds more than 1 files and directories");
	const headers = await refusal(take("one", { limits: { ...DEFAULT_LIMITS, headers: 512 } }));
	expect(headers.message).toContain("holds more than 512 bytes of names and attributes");
	expectNothing();
});

it("a folder that is swapped for a link again and again leads nowhere else", async () => {
	const outside = join(root, "outside");
	mkdirSync(outside);
	writeFileSync(join(outside, "secret"), "CANARY-OUTSIDE");
	for (let index = 0; index < 400; index += 1) {
		mkdirSync(join(tree, `d${index}`));
		writeFileSync(join(tree, `d${index}/secret`), "inside");
	}
	const swap =
		'while :; do for d in "$1"/d*; do mv "$d" "$d.x" && ln -s "$2" "$d"; rm -f "$d"; mv "$d.x" "$d"; done; done 2>/dev/null';
	helpers.push(spawn("sh", ["-c", swap, "sh", tree, outside]));
	for (let round = 0; round < 5; round += 1) {
		// That it fails is fine here: what must not be is that it reads outside.
		await take(`round-${round}`).catch(() => undefined);
		if (!existsSync(store.archive(`round-${round}`))) continue;
		const all = execFileSync("sh", ["-c", 'gzip -dc "$1"', "sh", store.archive(`round-${round}`)], {
			maxBuffer: 2 ** 28,
		});
		expect(all.includes("CANARY-OUTSIDE")).toBe(false);
	}
	expect((await store.list()).length).toBeGreaterThan(0);
});

it("what is overdue is removed by the next one, and so is what a killed run left; the rest stays", async () => {
	await take("kept");
	await store.take(
		{
			extension: "ext.bwrap",
			snapshot_id: "overdue",
			sandbox_id: "box",
			generation: 1,
			profile: { id: "profile.test", version: "1" },
			created_at: new Date().toISOString(),
			expires_at: new Date(Date.now() - 1000).toISOString(),
			labels: {},
		},
		options(),
	);
	mkdirSync(join(store.directory, ".new-killed"));
	writeFileSync(join(store.directory, ".new-killed/archive.tar.gz"), "half");
	mkdirSync(join(store.directory, ".gone-killed-1"));
	await take("next");
	expect(readdirSync(store.directory).sort()).toEqual(["kept", "next"]);
});

it("what another run is taking stays", async () => {
	const slow = otherTar('/bin/tar "$@"; sleep 2');
	const first = take("slow", { path: slow });
	while (!existsSync(join(store.directory, ".new-slow"))) await new Promise((resolve) => setTimeout(resolve, 10));
	await take("other");
	await first;
	expect((await store.list()).map(({ snapshot_id }) => snapshot_id).sort()).toEqual(["other", "slow"]);
});

it("one that is removed while it is restored is restored whole", async () => {
	makeTree(tree);
	const manifest = await take();
	const archive = await inspected(manifest);
	try {
		expect([await store.remove("one"), await store.remove("one")]).toEqual([true, false]);
		const into = mkdtempSync(join(root, "into-"));
		await archive.unpack({ path, confinement: [], directory: into }, untilDone);
		expect(describeTree(into)).toEqual(describeTree(tree));
	} finally {
		await archive.close();
	}
	expectNothing();
});

it("what was inspected is restored, whatever its archive has become since", async () => {
	makeTree(tree);
	const manifest = await take();
	const archive = await inspected(manifest);
	try {
		writeFileSync(store.archive("one"), "another");
		const into = mkdtempSync(join(root, "into-"));
		await archive.unpack({ path, confinement: [], directory: into }, untilDone);
		expect(describeTree(into)).toEqual(describeTree(tree));
	} finally {
		await archive.close();
	}
});

it("the caller of a restore stops: it is told, and no tar runs on", async () => {
	const archive = await inspected(await take());
	try {
		const started = join(root, "started");
		const slow = otherTar(`echo $$ >${started}; exec sleep 60`);
		const stop = new AbortController();
		const unpacking = refusal(archive.unpack({ path: slow, confinement: [], directory: root }, stop.signal));
		while (!existsSync(started) || readFileSync(started, "utf8") === "")
			await new Promise((resolve) => setTimeout(resolve, 10));
		stop.abort();
		const { code, message } = await unpacking;
		expect([code, message]).toEqual(["aborted", "The restore of snapshot one was stopped."]);
		expect(existsSync(`/proc/${readFileSync(started, "utf8").trim()}`)).toBe(false);
	} finally {
		await archive.close();
	}
});

it("without GNU tar it says what is missing", async () => {
	expect(await refusal(take("one", { path: "/nowhere" }))).toMatchObject({ code: "preflight" });
});
