/** Case 22: snapshots that are hostile, torn, or change while they are read. "ssh drops" is here a writer that is cut off. */
import { execFileSync } from "node:child_process";
import {
	chmodSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxerError, SnapshotMeta } from "../../../../provider/contract";
import { makeArchives, plantManifest } from "../../../snapshots/support/plant";
import { kill } from "../../../support/kill";
import { OWNER, wish } from "../support/host";
import { type Box, Place } from "../support/place";
import { Staged } from "../support/staged";
import { until } from "../support/until";
import { isRoot, USERS } from "../support/users";

const staged = new Staged();
const archives = mkdtempSync(join(tmpdir(), "case-22-"));
beforeAll(() => makeArchives(archives));
afterAll(() => {
	staged.remove();
	rmSync(archives, { recursive: true, force: true });
});

/** Rows of the case that are refused, and the member that the message names. */
const REFUSED: Readonly<Record<string, string>> = {
	absolute: "/srv/elsewhere/abs",
	dotdot: "../up",
	"dotdot-deep": "a/b/../../../up",
	"link-out": '"l"',
	"link-out-abs": '"l"',
	"write-through": '"d"',
	"hardlink-out": '"h"',
	"hardlink-link": '"s"',
	device: '"dev"',
	fifo: '"pipe"',
	setuid: '"su"',
	twice: '"same"',
	smuggled: '"h"',
	"cut-short": "cut short",
	empty: "cut short",
};

/** The processes that read a workspace: nobody else's command line names it. */
function tarsOf({ workspace }: Box): { readonly pid: number; readonly uid: number }[] {
	return readdirSync("/proc").flatMap((name) => {
		try {
			const words = readFileSync(`/proc/${name}/cmdline`, "latin1").split("\0");
			if (!words.includes(workspace) || !words.includes("--create")) return [];
			const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1];
			return [{ pid: Number(name), uid: Number(uid) }];
		} catch {
			return []; // no process, or ended meanwhile
		}
	});
}

describe.each(USERS)("case 22, of $name", (user) => {
	let place: Place;
	let box: Box;
	beforeEach(async () => {
		place = new Place(staged, user);
		box = await place.make();
	});
	afterEach(async () => expect(await place.dispose()).toEqual([]));

	const store = () => join(place.stateDir, "bwrap-snapshots");
	const sandboxes = () => readdirSync(join(place.stateDir, "bwrap")).filter((name) => !name.startsWith("."));
	const take = (snapshotId = "one", changes: object = {}) =>
		place.any.do("snapshot", { handle: box.handle, snapshotId, ...changes });
	const restore = async (snapshot: SnapshotMeta, sandboxId = "again") =>
		place.box((await place.any.do("restore", { snapshot, wish: wish({ sandboxId }) })).handle);
	const refusal = (promise: Promise<unknown>) =>
		promise.then(
			() => Promise.reject(new Error("It was not refused.")),
			(thrown: SandboxerError) => thrown,
		);

	/** Puts an archive of make-tars.py where snapshots are, with a manifest that fits it. */
	function plant(name: string): SnapshotMeta {
		mkdirSync(store(), { recursive: true, mode: 0o700 });
		const folder = join(store(), name);
		cpSync(join(archives, name), folder, { recursive: true });
		const manifest = plantManifest(folder, name);
		if (user.uid !== undefined) execFileSync("chown", ["-R", `${user.uid}:${user.uid}`, store()]);
		const { owner: _owner, expires_at: _expires, ...meta } = manifest;
		return meta;
	}

	it.each(Object.entries(REFUSED))("%s: refused whole, %s named", async (name, named) => {
		const error = await refusal(restore(plant(name)));
		expect(error.code).toBe("invalid");
		expect(error.message).toContain(named);
		expect(error.message).toContain(join(store(), name, "archive.tar.gz"));
		expect(sandboxes()).toEqual(["box"]);
		await place.any.do("waitReady", box.handle);
	});

	it("bomb: refused by what its manifest tells of, the disk is not filled", async () => {
		expect((await refusal(restore(plant("bomb")))).message).toContain(
			'member "zeros" is more than the manifest tells of',
		);
		expect(sandboxes()).toEqual(["box"]);
	});

	it("good and newline-name: restored", async () => {
		const good = await restore(plant("good"), "good");
		expect((await place.sh(good, "cat dir/inner-link")).stdout).toBe("canary");
		const odd = await restore(plant("newline-name"), "odd");
		expect(readdirSync(odd.workspace)).toEqual(["a\nb"]);
	});

	it("foreign-owner: restored as the sandbox's own user", async () => {
		const made = await restore(plant("foreign-owner"));
		const { uid, gid } = statSync(join(made.workspace, "mine"));
		const own = made.record.own_uid ?? made.record.maker_uid;
		expect([uid, gid]).toEqual([own, own]);
	});

	it("tar exits 0: kept; the source stays ready, and a restore makes a new sandbox of the same workspace", async () => {
		await place.sh(
			box,
			"mkdir -p a/b; echo one >a/b/f; ln a/b/f h; ln -s a/b/f l; chmod 750 a; chmod 777 .; truncate -s 1M s",
		);
		const meta = await take("one", { labels: { why: "test" } });
		expect(meta).toMatchObject({
			extension: "ext.bwrap",
			snapshot_id: "one",
			kind: "workspace",
			sandbox_id: "box",
			generation: box.record.generation,
			profile: { id: "profile.test", version: "1" },
			consistent: true,
			changed: [],
			file_count: 4,
			labels: { why: "test" },
			archive: join(store(), "one", "archive.tar.gz"),
		});
		expect(await place.any.do("snapshots", {})).toEqual([meta]);
		expect(await place.any.do("snapshots", { sandboxId: "other" })).toEqual([]);
		await place.any.do("waitReady", box.handle);
		await place.sh(box, "echo later >a/b/f");
		const again = await restore(meta);
		await place.any.do("waitReady", again.handle);
		expect(again.record.sandbox_id).toBe("again");
		const script = "cat l; stat -c '%h %a' h a; stat -c '%s %b' s; echo more >>h; cat a/b/f";
		expect((await place.sh(again, script)).stdout).toMatch(/^one\n2 644\n\d+ 750\n1048576 0\none\nmore\n$/);
		expect((await place.sh(box, "cat l")).stdout).toBe("later\n");
		const { mode, uid } = statSync(again.workspace);
		expect([mode & 0o7777, uid]).toEqual([0o700, again.record.own_uid ?? again.record.maker_uid]);
	});

	it("a snapshot outlives its sandbox", async () => {
		await place.sh(box, "echo kept >f");
		const meta = await take();
		await place.any.do("teardown", box.handle);
		expect((await place.sh(await restore(meta, "box"), "cat f")).stdout).toBe("kept\n");
	});

	it("restored twice: two sandboxes; the same again: the one that is there", async () => {
		const meta = await take();
		const [one, two] = [await restore(meta, "first"), await restore(meta, "second")];
		expect(sandboxes().sort()).toEqual(["box", "first", "second"]);
		expect((await restore(meta, "first")).record.init).toEqual(one.record.init);
		expect(two.record.sandbox_id).toBe("second");
	});

	it("tar exits 1 (a file changed while it was read): kept, marked as not consistent, named", async () => {
		await place.sh(box, "head -c 4000000 /dev/urandom >log");
		const writing = place.sh(box, "end=$(($(date +%s) + 5)); while [ $(date +%s) -lt $end ]; do echo more >>log; done");
		await until("the log grows", () => statSync(join(box.workspace, "log")).size > 4_000_000);
		const meta = await take();
		expect(meta).toMatchObject({ consistent: false, changed: ["log"] });
		await writing;
		expect(readdirSync((await restore(meta)).workspace)).toEqual(["log"]);
	});

	it("tar exits 2: the snapshot fails, no file with the final name exists; the source is still ready", async () => {
		await place.sh(box, "echo x >shut; chmod 000 shut");
		const { code, message } = await refusal(take());
		expect(code).toBe("unknown");
		expect(message).toMatch(/sandbox box failed: tar ended with 2: .*shut: Cannot open: Permission denied/);
		expect(readdirSync(store())).toEqual([]);
		await place.any.do("waitReady", box.handle);
	});

	it("the writer is cut off in the middle: the same as 2", async () => {
		await place.sh(box, "head -c 30000000 /dev/urandom >big");
		const taking = refusal(take());
		const tars = () => tarsOf(box).map(({ pid }) => pid);
		await until("tar runs", () => existsSync(join(store(), ".new-one", "archive.tar.gz")) && tars().length > 0);
		for (const pid of tars()) kill(pid);
		expect((await taking).message).toContain("tar ended with");
		expect(readdirSync(store())).toEqual([]);
		await place.any.do("waitReady", box.handle);
	});

	it("the taker is killed in the middle: no file with the final name exists, and the next one sweeps", async () => {
		await place.sh(box, "head -c 30000000 /dev/urandom >big");
		const taker = place.provider();
		const taking = refusal(taker.do("snapshot", { handle: box.handle, snapshotId: "one" }));
		await until("it is being taken", () => existsSync(join(store(), ".new-one", "archive.tar.gz")));
		await taker.end("SIGKILL");
		await taking;
		expect(await place.any.do("snapshots", {})).toEqual([]);
		await take("two");
		expect(readdirSync(store()).filter((name) => !name.startsWith(".lock-"))).toEqual(["two"]);
	});

	(isRoot && user.uid === undefined ? it : it.skip)(
		"disk full: the same as 2, the path is named (needs root)",
		async () => {
			await place.sh(box, "head -c 8000000 /dev/urandom >big");
			mkdirSync(store(), { recursive: true });
			execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", store()]);
			try {
				const { code, message } = await refusal(take());
				expect([code, message.includes(store())]).toEqual(["preflight", true]);
				expect(readdirSync(store())).toEqual([]);
			} finally {
				execFileSync("umount", [store()]);
			}
		},
	);

	it("two captures of one sandbox at once: two snapshots; of one id: one, and a conflict", async () => {
		await place.sh(box, "head -c 1000000 /dev/urandom >f");
		const [a, b] = [place.provider(), place.provider()];
		const at = (provider: typeof a, snapshotId: string) => provider.do("snapshot", { handle: box.handle, snapshotId });
		expect((await Promise.all([at(a, "one"), at(b, "two")])).map(({ snapshot_id }) => snapshot_id)).toEqual([
			"one",
			"two",
		]);
		const both = await Promise.allSettled([at(a, "three"), at(b, "three")]);
		expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
		expect(both.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
	});

	it.each(["../x", "a b", "/etc", ".x"])("the snapshot id %j is refused", async (id) => {
		const { code, message } = await refusal(take(id));
		expect([code, message.includes(JSON.stringify(id))]).toEqual(["invalid", true]);
		expect((await refusal(restore({ ...plant("good"), snapshot_id: id }))).code).toBe("invalid");
		expect(sandboxes()).toEqual(["box"]);
	});

	it("another extension's snapshot, one that is gone, and another under its id are refused", async () => {
		const meta = await take();
		expect((await refusal(restore({ ...meta, extension: "ext.other" }))).code).toBe("unsupported");
		expect((await refusal(restore({ ...meta, sha256: "0".repeat(64) }))).code).toBe("conflict");
		expect((await refusal(place.any.do("removeSnapshot", { ...meta, sha256: "0".repeat(64) }))).code).toBe("conflict");
		expect(await place.any.do("removeSnapshot", meta)).toMatchObject({ removed: [`snapshot ${join(store(), "one")}`] });
		expect(await place.any.do("removeSnapshot", meta)).toEqual({ found: [], removed: [], remains: [] });
		expect((await refusal(restore(meta))).code).toBe("gone");
		expect(sandboxes()).toEqual(["box"]);
	});

	it("the same owner's of the same life is found again, not taken twice; another's is a conflict", async () => {
		const first = await take("one", { owner: OWNER });
		await place.sh(box, "echo later >f");
		expect(await take("one", { owner: OWNER })).toEqual(first);
		expect((await refusal(take("one", { owner: { ...OWNER, urn: "another" } }))).code).toBe("conflict");
		await place.any.do("teardown", box.handle);
		box = await place.make();
		expect((await refusal(take("one", { owner: OWNER }))).code).toBe("conflict");
	});

	it("what is kept no longer is removed by the next one; the rest stays", async () => {
		const short = await take("short", { keepSeconds: 1 });
		expect(Date.parse(short.expires_at ?? "") - Date.parse(short.created_at)).toBe(1000);
		await take("long", { keepSeconds: 3600 });
		await until("its time is over", () => Date.now() > Date.parse(short.expires_at ?? ""));
		await take("next");
		expect(readdirSync(store()).sort()).toEqual(["long", "next"]);
	});

	it("a teardown meanwhile is not held up, and no half snapshot exists", async () => {
		await place.sh(box, "head -c 60000000 /dev/urandom >big; mkdir many; cd many; seq 1 2000 | xargs touch");
		const other = place.provider();
		await other.do("locate", {});
		const taking = refusal(take());
		await until("it is being taken", () => existsSync(join(store(), ".new-one", "archive.tar.gz")));
		await other.do("teardown", box.handle);
		const { code, message } = await taking;
		expect(message).toMatch(/ended while its snapshot was taken|tar ended with/);
		expect(["gone", "remains", "unknown"]).toContain(code);
		expect(readdirSync(store())).toEqual([]);
	});

	it("one whose lease is over can still be kept; an earlier life's or nobody's handle takes nothing", async () => {
		await place.sh(box, "echo work >f");
		const expiresAt = new Date(Date.now() + 1000).toISOString();
		await place.any.do("extendLease", { handle: box.handle, expiresAt });
		await until("it has ended", () => place.traces().length === 0);
		expect((await place.sh(await restore(await take()), "cat f")).stdout).toBe("work\n");
		const earlier = { ...box.handle, generation: box.handle.generation - 1 };
		expect((await refusal(place.any.do("snapshot", { handle: earlier, snapshotId: "two" }))).code).toBe("gone");
	});

	it("it is used while it is read", async () => {
		await place.sh(box, "head -c 30000000 /dev/urandom >big");
		const taking = take();
		await until("it is being taken", () => existsSync(join(store(), ".new-one", "archive.tar.gz")));
		expect(
			(await place.provider().do("enter", { directory: box.directory, command: ["echo", "works"], timeoutSeconds: 60 }))
				.stdout,
		).toBe("works\n");
		const expiresAt = new Date(Date.now() + 1_200_000).toISOString();
		await place.provider().do("extendLease", { handle: box.handle, expiresAt });
		await taking;
	});

	it("what is not in the workspace is in no snapshot: secrets, the environment, the home, the record", async () => {
		await place.sh(
			box,
			"echo CANARY-HOME >$HOME/f; echo CANARY-TMP >/tmp/f; echo CANARY-SHM >/dev/shm/f; echo seen >f",
		);
		chmodSync(box.directory, 0o711);
		await take("one", { labels: { a: "b" } });
		const all = readdirSync(join(store(), "one")).map((name) => {
			const bytes = readFileSync(join(store(), "one", name));
			return name.endsWith(".gz")
				? execFileSync("gzip", ["-dc"], { input: bytes }).toString("latin1")
				: bytes.toString();
		});
		expect(all.join("\n")).toContain("seen");
		expect(all.join("\n")).not.toMatch(/CANARY|from the provider|record_version/);
	});

	it("links that lead out, sockets and fifos are left out and named; links are never followed", async () => {
		const secret = join(place.folder, "secret");
		writeFileSync(secret, "CANARY-HOST");
		chmodSync(secret, 0o644);
		await place.sh(box, `mkfifo pipe; ln -s ${secret} out; ln -s ../../../../../etc/passwd up; echo fine >f`);
		const meta = await take();
		expect(meta["left_out"]).toEqual(
			expect.arrayContaining([
				{ path: "pipe", reason: "is a fifo" },
				{ path: "out", reason: expect.stringContaining("leads out") },
				{ path: "up", reason: expect.stringContaining("leads out") },
			]),
		);
		const archive = execFileSync("gzip", ["-dc", String(meta["archive"])]).toString("latin1");
		expect(archive).not.toContain("CANARY-HOST");
		expect(readdirSync((await restore(meta)).workspace)).toEqual(["f"]);
	});

	it.each(["provision:record-written", "provision:workspace-copied", "provision:spawned", "provision:recorded"])(
		"a restore that is killed at %s leaves one sandbox or none, and the next goes on",
		async (checkpoint) => {
			await place.sh(box, "echo kept >f");
			const meta = await take();
			const killed = place.provider();
			await killed.do("dieAt", checkpoint);
			await refusal(killed.do("restore", { snapshot: meta, wish: wish({ sandboxId: "again" }) }));
			const again = await restore(meta);
			expect((await place.sh(again, "cat f")).stdout).toBe("kept\n");
			expect(sandboxes().sort()).toEqual(["again", "box"]);
		},
	);

	it("the tree is read with the rights of the sandbox's own user", async () => {
		await place.sh(box, "head -c 60000000 /dev/urandom >big");
		const taking = take();
		const uids = () => tarsOf(box).map(({ uid }) => uid);
		let seen: number[] = [];
		await until("tar reads", () => {
			seen = uids();
			// What becomes that user is root's before.
			return seen.some((uid) => uid !== 0 || !isRoot);
		});
		await taking;
		expect([...new Set(seen)].filter((uid) => uid !== 0 || !isRoot)).toEqual([
			box.record.own_uid ?? box.record.maker_uid,
		]);
	});
});
