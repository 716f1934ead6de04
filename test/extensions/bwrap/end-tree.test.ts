import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { endTree } from "../../../extensions/bwrap/entry/end-tree";
import { type ProcessIdentity, ProcessTable, waitUntilDead } from "../../../provider/identity";
import { until } from "./support/until";

describe("ending an entry", () => {
	const table = new ProcessTable();
	const started: ProcessIdentity[] = [];
	const start = (script: string): ChildProcess => spawn("sh", ["-c", script], { stdio: "ignore", detached: true });
	const identify = (pid: number): ProcessIdentity => {
		const identity = table.identify(pid) as ProcessIdentity;
		started.push(identity);
		return identity;
	};
	/** 0 where there is none. */
	const childOf = (pid: number) =>
		pid === 0 ? 0 : Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")[0]);
	const leadsSession = (pid: number) => readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[5] === String(pid);

	afterEach(() => {
		for (const identity of started.splice(0)) table.signal(identity, "SIGKILL");
	});

	it("ends the command's own session itself, and does not leave that to those that end with the entry", async () => {
		// As nsenter, bwrap and the first process of the command's pid namespace are: but here nothing ends with its parent.
		const entry = start("sh -c 'setsid sh -c \"sleep 1000 & wait\" & wait' & wait");
		const { pid } = identify(entry.pid as number);
		const seen = () => {
			const second = childOf(pid);
			const first = childOf(second);
			return [second, first, childOf(first)];
		};
		await until("the command has forked in a session of its own", () => {
			const [, first = 0, forked = 0] = seen();
			return forked > 0 && leadsSession(first);
		});
		const tree = seen().map(identify);
		endTree(pid);
		await once(entry, "exit");
		expect(await waitUntilDead(table, tree, 10_000)).toEqual([]);
	});

	it("ends one that has not come so far", async () => {
		const entry = start("exec sleep 1000");
		const identity = identify(entry.pid as number);
		endTree(identity.pid);
		await once(entry, "exit");
		expect(await waitUntilDead(table, [identity], 10_000)).toEqual([]);
	});

	it("has nothing to do where it has ended, and was not yet waited for", async () => {
		const entry = start("exit 0");
		const pid = entry.pid as number;
		// Held in this turn: Node waits for it in the next.
		while (table.identify(pid) !== undefined);
		endTree(pid);
		expect(await once(entry, "exit")).toEqual([0, null]);
	});
});
