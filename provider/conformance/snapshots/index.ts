import assert from "node:assert/strict";
import type { SnapshotMeta } from "../../contract";
import { SandboxerError } from "../../errors";
import type { Bench } from "../bench";
import type { Case } from "../case";
import { rejected, same } from "../judgement";
import { HOSTILE } from "./hostile";

/** A tree with what archives lose; nothing in it leads out. */
const FILL = `cd /workspace && mkdir -p a/b empty/er "odd
name" ./-dash "ünï🙂 blank" && echo one >a/b/f && ln a/b/f hard && ln -s b/f a/inner && ln -s nowhere dangling && chmod 750 a &&
printf 'x\\0y' >"odd
name/bin" && echo d >./-dash/-rf && : >"ünï🙂 blank/*" && truncate -s 8M sparse && printf end >>sparse && mkdir -p ${"long/".repeat(60)} &&
echo deep >${"long/".repeat(60)}file && chmod 600 hard && i=0 && while [ $i -lt 500 ]; do echo $i >empty/$i; i=$((i+1)); done`;

/** What of a tree must be the same afterwards. */
const LOOK = `cd /workspace && find . -printf '%P|%y|%m|%l|%n|%s\\n' | grep -v '|d|' | LC_ALL=C sort; find . -type d -printf '%P|%m\\n' | grep . | LC_ALL=C sort; find . -type f -exec sha256sum {} + | LC_ALL=C sort; stat -c %i a/b/f hard | uniq | wc -l; [ $(stat -c %b sparse) -lt 1000 ] && echo sparse`;

async function take(bench: Bench, snapshotId: string, changes: object = {}): Promise<SnapshotMeta> {
	const request = { snapshotId, labels: { why: "kit" }, ...changes };
	return bench.keep(await bench.caller.do("snapshot", { handle: await bench.box(), request }));
}

const fresh = () => `snap-${Math.random().toString(36).slice(2, 12)}`;

export const SNAPSHOTS: readonly Case[] = [
	{
		name: "takes a snapshot of a sandbox that stays ready, and restores it as a new one, file by file the same",
		needs: ["execution"],
		run: async (bench) => {
			await bench.sh(FILL);
			const before = await bench.sh(LOOK);
			const snapshotId = fresh();
			const meta = await take(bench, snapshotId);
			const box = await bench.box();
			same([meta.extension, meta.snapshot_id, meta.sandbox_id], [box.extension, snapshotId, box.sandbox_id]);
			same(meta.labels, { why: "kit" });
			assert.match(meta.sha256, /^[0-9a-f]{64}$/);
			assert.ok(meta.size_bytes > 0 && meta.file_count >= 500, JSON.stringify(meta));
			same([meta.consistent, meta.changed], [true, []]);
			assert.doesNotMatch(JSON.stringify(meta), /canary-/);
			await bench.caller.do("waitReady", box);
			const wish = bench.wish();
			const { handle, adopted } = await bench.restore(meta, wish);
			same([handle.sandbox_id, adopted], [wish.sandboxId, false]);
			await bench.caller.do("waitReady", handle);
			assert.equal(await bench.sh(LOOK, {}, handle), before);
			await bench.sh("echo more >>/workspace/a/b/f && rm -r /workspace/empty", {}, handle);
			assert.equal(await bench.sh(LOOK), before, "the source has changed");
		},
	},
	{
		name: "keeps a snapshot beyond its sandbox, lists it, and removes it once",
		needs: ["execution"],
		run: async (bench) => {
			const handle = await bench.make();
			await bench.sh("echo kept >/workspace/kept", {}, handle);
			const request = { snapshotId: fresh(), labels: {} };
			const meta = bench.keep(await bench.caller.do("snapshot", { handle, request }));
			await bench.caller.do("teardown", handle);
			const listed = () => bench.caller.do("snapshots", { sandboxId: handle.sandbox_id });
			same(await listed(), [meta]);
			same(await bench.caller.do("snapshots", { sandboxId: `${handle.sandbox_id}-none` }), []);
			const again = await bench.restore(meta);
			assert.equal(await bench.sh("cat /workspace/kept", {}, again.handle), "kept\n");
			same((await bench.caller.do("removeSnapshot", meta)).remains, []);
			same(await listed(), []);
			same((await bench.caller.do("removeSnapshot", meta)).found, []);
			await rejected(bench.restore(meta), { code: "gone", names: [meta.snapshot_id] });
		},
	},
	{
		name: "keeps no credential in a snapshot that is taken while a command has them",
		needs: ["execution"],
		run: async (bench) => {
			const script = "echo up >up; until [ -e taken ]; do sleep 0.1; done";
			const holding = bench.execute(["sh", "-c", script], { credentialRouteRefs: ["DB", "KEY", "DECLARED"] });
			await bench.sh("cd /workspace; until [ -e up ]; do sleep 0.1; done");
			const meta = await take(bench, fresh());
			await bench.sh("touch /workspace/taken");
			assert.equal((await holding).exitCode, 0);
			const { handle } = await bench.restore(meta);
			assert.equal(await bench.sh("grep -rls '[c]anary-' /workspace || :", {}, handle), "");
		},
	},
	{
		name: "refuses an id that is none, and a second snapshot of one id",
		run: async (bench) => {
			for (const snapshotId of ["../x", "with blank", "", "-x", "a/b", ".x"])
				await rejected(take(bench, snapshotId), { code: "invalid", names: [] });
			const snapshotId = fresh();
			await take(bench, snapshotId);
			await rejected(take(bench, snapshotId), { code: "conflict", names: [snapshotId] });
		},
	},
	{
		name: "takes several snapshots of one sandbox at once",
		run: async (bench) => {
			const ids = [fresh(), fresh(), fresh()];
			const metas = await Promise.all(ids.map((id) => take(bench, id)));
			same(
				metas.map(({ snapshot_id }) => snapshot_id),
				ids,
			);
			const { sandbox_id } = await bench.box();
			const listed = (await bench.caller.do("snapshots", { sandboxId: sandbox_id })).map(
				({ snapshot_id }) => snapshot_id,
			);
			same(
				ids.filter((id) => !listed.includes(id)),
				[],
			);
		},
	},
	{
		name: "restores no snapshot over a sandbox that lives, and none of another extension",
		run: async (bench) => {
			const meta = await take(bench, fresh());
			const box = await bench.box();
			const before = await bench.settledTraces(box);
			await rejected(bench.restore(meta, bench.wish({ sandboxId: box.sandbox_id, digest: "digest-restored" })), {
				code: "conflict",
				names: [box.sandbox_id],
			});
			await assert.rejects(bench.restore({ ...meta, extension: "ext.of-somebody-else" }), SandboxerError);
			await assert.rejects(bench.restore({ ...meta, sha256: "0".repeat(64) }), SandboxerError);
			await bench.caller.do("waitReady", box);
			await bench.isAsBefore(box, before);
		},
	},
	...HOSTILE.map(
		(archive): Case => ({
			name: `refuses to restore a hostile archive whole, naming the member: ${archive.name}`,
			needs: ["plant"],
			run: async (bench) => {
				const planted = await bench.adapter.plant?.(archive);
				assert.ok(planted !== undefined);
				const wish = bench.wish();
				const error = await bench.restore(planted, wish).then(
					() => assert.fail("it was restored"),
					(thrown: unknown) => thrown,
				);
				assert.ok(error instanceof SandboxerError && error.code === "invalid", String(error));
				if (archive.blamed !== undefined) assert.ok(error.text.includes(archive.blamed), error.text);
				same(await bench.traces(bench.named(wish)), []);
				same(await bench.located({ sandboxId: wish.sandboxId }), []);
				await bench.caller.do("waitReady", await bench.box());
			},
		}),
	),
];
