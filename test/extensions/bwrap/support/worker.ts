/** A provider process: the extension under whatever user it was started as, told what to do by its parent. */
import { enter } from "../../../../extensions/bwrap/entry/enter";
import { BwrapExtension } from "../../../../extensions/bwrap/handler";
import { noteActivity } from "../../../../extensions/bwrap/idle/idle-limit";
import { findPrograms } from "../../../../extensions/bwrap/preflight";
import { type BwrapRecord, readRecord } from "../../../../extensions/bwrap/record";
import { SandboxerError } from "../../../../provider/errors";
import { bwrapHost, callFor, requestFor } from "./host";
import type { Answer, Jobs, Order } from "./messages";

const extension = new BwrapExtension(bwrapHost(process.env["STATE_DIR"] ?? "", process.env));
const gone = new AbortController();
const call = callFor(gone.signal);

const jobs: { [Job in keyof Jobs]: (takes: Jobs[Job]["takes"]) => Promise<Jobs[Job]["gives"]> } = {
	provision: (wish) => extension.provision(wish.profile, wish.inputs, "local", requestFor(wish, gone.signal)),
	waitReady: (handle) => extension.waitReady(handle, call),
	teardown: (handle) => extension.teardown(handle, call),
	locate: () => extension.locate({}, call),
	extendLease: ({ handle, expiresAt, terms }) =>
		extension.extendLease(handle, expiresAt, { ...call, ...(terms === undefined ? {} : { terms }) }),
	expire: async (handle) => (await extension.expire(handle, call)) ?? null,
	inventory: () => extension.inventory(call),
	reap: (finding) => extension.reap(finding, call),
	enter: async ({ directory, command, timeoutSeconds, record }) => {
		await noteActivity(directory);
		return enter({
			programs: findPrograms(process.env["PATH"] ?? ""),
			record: (record as BwrapRecord | undefined) ?? ((await readRecord(directory)) as BwrapRecord),
			argv: command,
			signal: gone.signal,
			timeoutSeconds,
		});
	},
	snapshot: ({ handle, labels = {}, ...wish }) =>
		extension.snapshot(handle, { ...callFor(gone.signal), ...wish, labels }),
	snapshots: (query) => extension.snapshots(query),
	removeSnapshot: (snapshot) => extension.removeSnapshot(snapshot),
	restore: ({ snapshot, wish }) =>
		extension.restoreFromSnapshot(wish.profile, snapshot, wish.inputs, "local", requestFor(wish, gone.signal)),
	dieAt: (checkpoint) => {
		const hook = (name: string) => {
			if (name === checkpoint) process.kill(process.pid, "SIGKILL");
			return Promise.resolve();
		};
		Object.assign(globalThis, { [Symbol.for("pulumi-sandboxer.checkpoint")]: hook });
		return Promise.resolve(true);
	},
};

async function answer({ number, job, takes }: Order): Promise<Answer> {
	try {
		return { number, gives: await (jobs[job] as (takes: unknown) => Promise<unknown>)(takes) };
	} catch (thrown) {
		const { code, message, hint, details } = SandboxerError.from(thrown);
		return { number, error: { code, message, ...(hint === undefined ? {} : { hint }), details } };
	}
}

process.on("message", (order: Order) => {
	void answer(order).then((said) => process.send?.(said));
});
process.on("disconnect", () => {
	gone.abort();
	process.exit();
});
