import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../../provider/contract";
import { kill } from "../../support/kill";
import { type Box, Place } from "./support/place";
import { Staged } from "./support/staged";
import { processesOf, processesOfGroup } from "./support/traces";
import { until } from "./support/until";
import { isRoot, otherUser, USERS } from "./support/users";

const staged = new Staged();
afterAll(() => staged.remove());

/** A supervisor's words for a folder, and a script that goes on as one does. */
const disguise = (folder: string) => ["sh", "-s", "supervise", "/usr/bin/flock", "60", folder];
const SCRIPT = "{ exec </dev/null; sleep 1000; }";

describe.each(USERS)("the inventory of $name", (user) => {
	let place: Place;
	let base: string;
	let others: ChildProcess[];
	beforeEach(() => {
		place = new Place(staged, user);
		base = join(place.stateDir, "bwrap");
		others = [];
	});
	afterEach(async () => {
		for (const { pid } of others) if (pid !== undefined) process.kill(-pid, "SIGKILL");
		expect(await place.dispose()).toEqual([]);
	});

	const found = () => place.any.do("inventory", {});
	const reap = (finding: Finding | undefined) => place.any.do("reap", finding ?? ({} as Finding));
	const short = ({ kind, action, what }: Finding) => `${action} ${kind} ${what.replace(base, "BASE")}`;
	const pidOf = ({ record }: Box) => record.supervisor?.pid ?? 0;
	const everything = () =>
		readdirSync(base, { recursive: true, encoding: "utf8" })
			.map((name) => `${name} ${statSync(join(base, name), { throwIfNoEntry: false })?.mtimeMs}`)
			.sort();
	/** Made by the place's own user, as the extension would. */
	const shell = (script: string) =>
		new Promise((resolve, reject) => place.outsider(["sh", "-c", script]).once("exit", resolve).once("error", reject));

	async function killed(box: Box): Promise<void> {
		kill(pidOf(box));
		await until("nothing is left", () => place.traces().length === 0);
	}

	/** As if it had been made so many milliseconds earlier. */
	function makeOlder({ directory }: Box, ms: number): void {
		const file = join(directory, "record.json");
		const record = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
		for (const key of ["created_at", "ready_at", "expires_at"])
			record[key] = new Date(Date.parse(record[key] ?? "") - ms).toISOString();
		writeFileSync(file, JSON.stringify(record));
	}

	it("is empty where there is nothing, and beside a sandbox that runs", async () => {
		expect(await found()).toEqual([]);
		await place.make();
		expect(await found()).toEqual([]);
	});

	it("looks only", async () => {
		await killed(await place.make());
		await shell(`mkdir ${base}/empty; touch ${base}/.lock-ghost`);
		const before = everything();
		expect((await found()).map(short)).toEqual([
			"inspect zombie_record directory BASE/box",
			"reap orphan_dir directory BASE/empty",
			"reap orphan_dir file BASE/.lock-ghost",
		]);
		expect(everything()).toEqual(before);
	});

	it.each([
		[
			"a create was killed over its record",
			"mkdir ghost; echo '{' >ghost/record.json.4242.new",
			"directory BASE/ghost",
		],
		[
			"a removal was killed at its very end",
			"mkdir .ghost.removing; echo '{}' >.ghost.removing/record.json",
			"directory BASE/.ghost.removing",
		],
		["a run was killed in its lock", "touch .lock-ghost", "file BASE/.lock-ghost"],
	])("has what is left where %s, and reaps it", async (_what, script, what) => {
		await shell(`mkdir -p ${base} && cd ${base} && ${script}`);
		const [finding, ...more] = await found();
		expect([finding && short(finding), more]).toEqual([`reap orphan_dir ${what}`, []]);
		const named = finding?.what ?? "";
		expect(await reap(finding)).toEqual({ found: [named], removed: [named], remains: [] });
		expect(readdirSync(base)).toEqual([]);
		expect(await reap(finding)).toEqual({ found: [], removed: [], remains: [] });
	});

	it.each([
		["of somebody's", "ghost", "mkdir ghost; echo mine >ghost/letter"],
		["with a damaged record", "ghost", "mkdir ghost; echo '{' >ghost/record.json"],
		["whose name is no id", "A Folder", "mkdir 'A Folder'"],
	])("has a folder %s to be looked at, and does not touch it", async (_what, name, script) => {
		await shell(`mkdir -p ${base} && cd ${base} && ${script}`);
		const [finding, ...more] = await found();
		expect([finding && short(finding), more]).toEqual([`inspect orphan_dir directory BASE/${name}`, []]);
		const before = everything();
		await expect(reap(finding)).rejects.toMatchObject({ code: "conflict" });
		expect(everything()).toEqual(before);
		rmSync(join(base, name), { recursive: true });
	});

	it("leaves to its stack what has ended by its lease, for an hour", async () => {
		const box = await place.make({ ttlSeconds: 2 });
		await until("it is over", () => place.traces().length === 0);
		expect((await found()).map(short)).toEqual(["ignore zombie_record directory BASE/box"]);
		makeOlder(box, 3_590_000);
		expect((await found()).map(short)).toEqual(["ignore zombie_record directory BASE/box"]);
		makeOlder(box, 20_000);
		const [finding] = await found();
		expect(finding && short(finding)).toBe("reap aged_dir directory BASE/box");
		expect((await reap(finding)).remains).toEqual([]);
		expect(readdirSync(base)).toEqual([]);
	});

	it("has a sandbox that was killed to be looked at, and reaps it when told to", async () => {
		const box = await place.make();
		await killed(box);
		const [finding] = await found();
		expect(finding).toMatchObject({
			kind: "zombie_record",
			action: "inspect",
			sandboxId: "box",
			reason: `it does not run, but its lease lasts until ${box.record.expires_at}: it was killed, or the machine was booted anew`,
		});
		expect((await reap(finding)).removed).toContain(`directory ${box.directory}`);
		expect(readdirSync(base)).toEqual([]);
	});

	it("never reaps what has come up meanwhile", async () => {
		const box = await place.make();
		await killed(box);
		const [finding] = await found();
		const again = await place.make();
		expect(await reap(finding)).toEqual({ found: [], removed: [], remains: [] });
		expect(processesOfGroup(pidOf(again))).not.toEqual([]);
	});

	it("has a create that was killed, but none that somebody is at", async () => {
		const provider = place.provider();
		await provider.do("dieAt", "provision:started");
		await place.make({}, provider).catch(() => undefined);
		const lock = join(base, ".lock-box");
		const holder = place.outsider(["flock", lock, "sleep", "1000"]);
		await until("the lock is held", () => processesOf(`flock ${lock}`).length > 0 && existsSync(lock));
		await until("nothing is found", async () => (await found()).length === 0);
		const children = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8").trim().split(" ");
		for (const pid of children) kill(Number(pid));
		await until("the lock is free", () => holder.exitCode !== null || holder.signalCode !== null);
		const [finding, ...more] = await found();
		expect([finding && short(finding), more]).toEqual(["reap aged_dir directory BASE/box", []]);
		expect((await reap(finding)).remains).toEqual([]);
		expect(readdirSync(base)).toEqual([]);
		await until("nothing runs", () => place.traces().length === 0);
	});

	it("has a supervisor whose record is gone, and ends it with all that it holds", async () => {
		const box = await place.make();
		rmSync(join(box.directory, "record.json"));
		const findings = await found();
		expect(findings.map(short)).toEqual([
			"inspect orphan_dir directory BASE/box",
			`reap orphan_process process ${pidOf(box)}`,
		]);
		expect(await reap(findings[1])).toEqual({
			found: [`process ${pidOf(box)}`],
			removed: [`process ${pidOf(box)}`],
			remains: [],
		});
		await until("nothing is left", () => processesOfGroup(pidOf(box)).length === 0);
		rmSync(box.directory, { recursive: true });
	});

	it("takes no process for one of ours by its words alone", async () => {
		const box = await place.make();
		const ghost = join(base, "ghost");
		void place.sh(box, 'echo "$1" | { shift; setsid "$@"; }', SCRIPT, ...disguise(ghost)).catch(() => undefined);
		// Another user's, and one of ours in another state folder.
		const id = String(otherUser.uid);
		const foreign = ["setpriv", "--reuid", id, "--regid", id, "--clear-groups", ...disguise(ghost)];
		for (const [program = "", ...args] of [
			...(isRoot ? [foreign] : []),
			disguise(join(place.folder, "other", "ghost")),
		]) {
			const child = spawn(program, args, { cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] });
			child.stdin.end(`${SCRIPT}\n`);
			others.push(child);
		}
		const disguised = () => processesOf(disguise("").join(" ")).filter(({ command }) => command.endsWith("/ghost"));
		await until(
			"all of them run",
			() => disguised().filter(({ command }) => command.startsWith("sh -s")).length === 1 + others.length,
		);
		expect(await found()).toEqual([]);
	});
});

describe("the inventory of a state folder that is not there", () => {
	it("is empty", async () => {
		const place = new Place(staged, { name: "whoever runs this", uid: undefined });
		try {
			rmSync(place.stateDir, { recursive: true });
			expect(await place.any.do("inventory", {})).toEqual([]);
			mkdirSync(place.stateDir, { mode: 0o711 });
		} finally {
			expect(await place.dispose()).toEqual([]);
		}
	});
});
