import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { observe } from "../../../../extensions/bwrap/observe";
import { findPrograms } from "../../../../extensions/bwrap/preflight";
import { StartedProbes } from "../../../../extensions/bwrap/probes/started-probes";
import { writeRecord } from "../../../../extensions/bwrap/record";
import type { Site } from "../../../../extensions/bwrap/site";
import { teardown } from "../../../../extensions/bwrap/teardown";
import type { Handle } from "../../../../provider/contract";
import { CHECKPOINTS } from "../../../../provider/contract/checkpoint";
import type { SandboxerError } from "../../../../provider/errors";
import { ProcessTable } from "../../../../provider/identity";
import { aRecord } from "../support/a-record";
import { callFor, OWNER } from "../support/host";
import { type Box, Place } from "../support/place";
import { Staged } from "../support/staged";
import { until } from "../support/until";
import { USERS } from "../support/users";

const CASE = resolve(__dirname, "../../../cases/18-bwrap-lifetime");
const read = <T>(name: string) => parse(readFileSync(join(CASE, name), "utf8")) as T;

interface PidRow {
	/** What is at number 4242 now. */
	readonly proc_4242?: string;
	readonly pid_in_state?: number | string;
	readonly refresh: "gone" | "present" | "error";
	readonly destroy: string;
	readonly signals_sent?: number;
}

describe("case 18: the process number in a state", () => {
	const ROWS = read<readonly PidRow[]>("pid-table.yaml");
	const call = callFor(new AbortController().signal);
	let folder: string;
	let proc: string;
	let sent: [number, NodeJS.Signals][];
	let site: Site;
	let directory: string;

	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "pid-table-"));
		proc = join(folder, "proc");
		mkdirSync(join(proc, "sys/kernel/random"), { recursive: true });
		writeFileSync(join(proc, "sys/kernel/random/boot_id"), "b-1\n");
		sent = [];
		const table = new ProcessTable(proc, (pid, signal) => {
			sent.push([pid, signal]);
			rmSync(join(proc, String(Math.abs(pid))), { recursive: true, force: true });
		});
		const path = process.env["PATH"] ?? "";
		directory = join(folder, "bwrap", "demo");
		site = {
			base: join(folder, "bwrap"),
			snapshots: join(folder, "bwrap-snapshots"),
			path,
			table,
			programs: () => findPrograms(path),
			probes: new StartedProbes(),
			clock: "/proc/uptime",
			now: Date.now,
		};
		mkdirSync(site.base);
	});
	afterEach(() => rmSync(folder, { recursive: true }));

	/** Puts at 4242 what a row says: "NAME, tick T, boot B" or "NAME, state Z (zombie)". */
	function put(what: string): void {
		if (what === "absent") return;
		const [name = "", ...facts] = what.split(", ");
		const fact = (key: string) => facts.find((text) => text.startsWith(`${key} `))?.split(" ")[1];
		writeFileSync(join(proc, "sys/kernel/random/boot_id"), `${fact("boot") ?? "b-1"}\n`);
		mkdirSync(join(proc, "4242"));
		const before = Array.from({ length: 18 }, (_, index) => index + 4).join(" ");
		const stat = `4242 (${name}) ${fact("state") ?? "S"} ${before} ${fact("tick") ?? 900_100} 7 8`;
		writeFileSync(join(proc, "4242/stat"), `${stat}\n`);
	}

	/** The handle in the state, whatever its number is. */
	const handleOf = ({ pid_in_state: pid = 4242 }: PidRow): Handle => ({
		extension: "ext.bwrap",
		sandbox_id: "demo",
		host: "local",
		generation: 1,
		claim: 1,
		remote_dir: directory,
		boot_id: "b-1",
		pid,
		start_ticks: 900_100,
	});

	async function leaveFolder({ pid_in_state: pid = 4242 }: PidRow): Promise<void> {
		const supervisor = { boot_id: "b-1", pid: Number(pid), start_ticks: 900_100 };
		const record = aRecord({
			sandbox_id: "demo",
			owner: OWNER,
			maker_uid: process.getuid?.() ?? 0,
			supervisor,
			init: supervisor,
		});
		mkdirSync(directory);
		await writeRecord(directory, record);
	}

	const refresh = (row: PidRow) =>
		observe(site, handleOf(row), call).then(
			() => "ready",
			(thrown: SandboxerError) => thrown.code,
		);
	const title = (row: PidRow): readonly [string, PidRow] => [
		row.proc_4242 === undefined
			? `number ${JSON.stringify(row.pid_in_state)} in the state`
			: `4242 is ${row.proc_4242}`,
		row,
	];
	const judged = ROWS.filter(({ refresh: verdict }) => verdict !== "error").map(title);

	it("has a test for every row of the case", () => {
		expect(judged.length + ROWS.filter(({ refresh: verdict }) => verdict === "error").length).toBe(ROWS.length);
	});

	it.each(judged)("%s, its folder gone", async (_title, row) => {
		if (row.proc_4242 !== undefined) put(row.proc_4242);
		const isPresent = row.refresh === "present";
		// A process without its folder is of no use, but it is there: "gone" would let it run on unseen.
		expect(await refresh(row)).toBe(isPresent ? "remains" : "gone");
		expect(sent).toEqual([]);
		const report = await teardown(site, handleOf(row), call);
		expect(sent).toEqual(isPresent ? [[-4242, "SIGKILL"]] : []);
		expect(report).toEqual(
			isPresent
				? { found: ["process 4242"], removed: ["process 4242"], remains: [] }
				: { found: [], removed: [], remains: [] },
		);
		expect(await refresh(row)).toBe("gone");
	});

	it.each(judged)("%s, its folder still there", async (_title, row) => {
		if (row.proc_4242 !== undefined) put(row.proc_4242);
		await leaveFolder(row);
		const isPresent = row.refresh === "present";
		// The folder is left of it, so not "gone": refresh keeps it in the state, and destroy removes it.
		if (!isPresent) expect(await refresh(row)).toBe("remains");
		expect(sent).toEqual([]);
		const report = await teardown(site, handleOf(row), call);
		if (isPresent) expect(sent[0]).toEqual([-4242, "SIGKILL"]);
		else expect(sent).toEqual([]);
		expect(report.removed).toContain(`directory ${directory}`);
		expect(report.remains).toEqual([]);
		expect(await refresh(row)).toBe("gone");
	});

	it.each(ROWS.filter(({ refresh: verdict }) => verdict === "error").map(title))(
		"%s is an error",
		async (_title, row) => {
			const error: Error = expect.objectContaining({
				code: "unknown",
				message: expect.stringMatching(/The handle of sandbox "demo" is not one of ext\.bwrap: .*pid/s) as unknown,
				hint: expect.stringMatching(/^Nothing was touched\./) as unknown,
			});
			await expect(observe(site, handleOf(row), call)).rejects.toEqual(error);
			await expect(teardown(site, handleOf(row), call)).rejects.toEqual(error);
			expect(sent).toEqual([]);
		},
	);

	it("a process that may not be signalled is named, and why it was left alone", async () => {
		put("our bwrap, tick 900100, boot b-1");
		const table = new ProcessTable(proc, () => {
			throw Object.assign(new Error("kill EPERM"), { code: "EPERM", syscall: "kill" });
		});
		await expect(
			teardown({ ...site, table }, handleOf({ refresh: "present", destroy: "" }), call),
		).rejects.toMatchObject({
			message: "Process 4242 could not be signalled: kill EPERM.",
			hint: expect.stringMatching(/^It was left alone\./) as unknown,
		});
	});
});

/** A step with ": " in it is a mapping to YAML. */
const STEPS = read<readonly (string | Record<string, string>)[]>("steps.yaml").map((row) =>
	typeof row === "string"
		? row
		: Object.entries(row)
				.map((pair) => pair.join(": "))
				.join(),
);
const step = (start: string) => {
	const found = STEPS.find((text) => text.startsWith(start));
	if (found === undefined) throw new Error(`The case has no step that starts with ${JSON.stringify(start)}.`);
	return found;
};
const A_MINUTE_MS = 60_000;

describe("case 18: the steps", () => {
	const staged = new Staged();
	const children: ChildProcess[] = [];
	/** Made first of all, and left alone for a minute while the other steps run. */
	const minutes = new Map<string, { place: Place; box: Box; madeAt: number }>();

	beforeAll(async () => {
		for (const user of USERS) {
			const place = new Place(staged, user);
			const provider = place.provider();
			const box = await place.make({ sandboxId: "minute" }, provider);
			await provider.do("waitReady", box.handle);
			await provider.end();
			minutes.set(user.name, { place, box, madeAt: Date.now() });
		}
	});
	afterAll(async () => {
		const left = await Promise.all([...minutes.values()].map(({ place }) => place.dispose()));
		staged.remove();
		expect(left.flat()).toEqual([]);
	});
	afterEach(() => {
		for (const child of children.splice(0)) child.kill("SIGKILL");
	});

	it("has a test for every step of the case", () => {
		expect(STEPS).toEqual([
			step("up; the pulumi process ends"),
			step("up; destroy"),
			step("up; SIGKILL"),
			step("up; exec a command that starts a background"),
			step("up; reboot"),
		]);
	});

	describe.each(USERS)("as $name", (user) => {
		let place: Place;
		beforeEach(() => {
			place = new Place(staged, user);
		});
		afterEach(async () => expect(await place.dispose()).toEqual([]));

		it(step("up; destroy"), async () => {
			const box = await place.make();
			expect(place.traces().length).toBeGreaterThanOrEqual(3);
			expect((await place.any.do("teardown", box.handle)).remains).toEqual([]);
			expect(place.leftovers()).toEqual([]);
		});

		it.each(CHECKPOINTS.filter((name) => name.startsWith("provision:")))(
			`${step("up; SIGKILL")} (at %s)`,
			async (checkpoint) => {
				const killed = place.provider();
				await killed.do("dieAt", checkpoint);
				await expect(place.make({}, killed)).rejects.toThrow(/the provider process ended: SIGKILL/);
				const box = await place.make({}, place.provider());
				await place.any.do("waitReady", box.handle);
				expect((await place.sh(box, "echo up")).stdout).toBe("up\n");
				expect((await place.any.do("teardown", box.handle)).remains).toEqual([]);
				expect(place.leftovers()).toEqual([]);
			},
		);

		it(step("up; exec a command that starts a background"), async () => {
			const box = await place.make();
			const { exitCode } = await place.sh(box, "setsid sleep 1000 & (sleep 1000 &); exit 0");
			expect(exitCode).toBe(0);
			await place.any.do("teardown", box.handle);
			expect(place.leftovers()).toEqual([]);
		});

		it(step("up; reboot"), async () => {
			const box = await place.make();
			place.killAll();
			await until("every process is dead", () => place.traces().length === 0);
			// The numbers are somebody else's now.
			const stranger = spawn("sleep", ["1000"], { stdio: "ignore", detached: true });
			children.push(stranger);
			const reused = { boot_id: "an-earlier-boot", pid: stranger.pid ?? 0, start_ticks: 4242 };
			for (const identity of [reused, { ...reused, boot_id: new ProcessTable().bootId() }]) {
				const record = { ...box.record, init: identity, supervisor: identity };
				writeFileSync(join(box.directory, "record.json"), JSON.stringify(record));
				await expect(place.any.do("waitReady", { ...box.handle, ...identity })).rejects.toMatchObject({
					code: "remains",
				});
			}
			expect((await place.any.do("teardown", { ...box.handle, ...reused })).remains).toEqual([]);
			expect(place.leftovers()).toEqual([]);
			expect(new ProcessTable().identify(stranger.pid ?? 0)).toBeDefined();
		});
	});

	describe("after that minute", () => {
		it.each(USERS)(`as $name: ${step("up; the pulumi process ends")}`, async ({ name }) => {
			const { place, box, madeAt } = minutes.get(name) ?? (undefined as never);
			await new Promise((resolve) => setTimeout(resolve, Math.max(0, madeAt + A_MINUTE_MS - Date.now())));
			expect((await place.enter(box, ["echo", "alive"])).stdout).toBe("alive\n");
			await place.any.do("waitReady", box.handle);
		});
	});
});
