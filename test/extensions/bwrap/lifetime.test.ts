import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BwrapExtension } from "../../../extensions/bwrap/handler";
import { CHECKPOINTS } from "../../../provider/contract/checkpoint";
import type { ProcessIdentity } from "../../../provider/identity";
import { kill } from "../../support/kill";
import { bwrapHost, requestFor, wish } from "./support/host";
import { type Box, Place } from "./support/place";
import { Staged } from "./support/staged";
import { until } from "./support/until";
import { USERS } from "./support/users";

/** A sandbox is to be over within a second; the slowest machine may take this long. */
const AT_ONCE_MS = 10_000;

const staged = new Staged();
afterAll(() => staged.remove());

describe.each(USERS)("a sandbox of $name", (user) => {
	let place: Place;
	beforeEach(() => {
		place = new Place(staged, user);
	});
	afterEach(async () => expect(await place.dispose()).toEqual([]));

	const isOver = () => place.traces().length === 0;
	const pidOf = (identity: ProcessIdentity | undefined) => identity?.pid ?? 0;
	const parentOf = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
	const looked = (box: Box) =>
		place.any.do("waitReady", box.handle).then(
			() => "ready",
			({ code }: { code: string }) => code,
		);
	const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

	it("outlives the process that made it, and ends at its deadline with nobody there", async () => {
		const before = Date.now();
		const provider = place.provider();
		const box = await place.make({ ttlSeconds: 6 }, provider);
		await provider.end("SIGKILL");
		expect(place.traces().map(({ pid }) => pid)).toEqual(
			expect.arrayContaining([pidOf(box.record.supervisor), pidOf(box.record.init)]),
		);
		await until("the lease has ended it", isOver, 6_000 + AT_ONCE_MS);
		expect(Date.now() - before).toBeGreaterThanOrEqual(5_900);
		expect(await looked(box)).toBe("remains");
	});

	it("ends what runs in it at its deadline", async () => {
		const box = await place.make({ ttlSeconds: 600 });
		const running = place.sh(box, "(trap '' TERM; setsid sleep 1000) & wait");
		running.catch(() => undefined);
		await until("it runs", () => place.traces().some(({ command }) => command === "sleep 1000"));
		await place.any.do("extendLease", { handle: box.handle, expiresAt: inSeconds(1) });
		await expect(running).rejects.toMatchObject({ code: "gone", message: "Sandbox box ended, and the command in it." });
		await until("nothing is left", isOver, AT_ONCE_MS);
	});

	it("feels a shortened deadline at once", async () => {
		const box = await place.make({ ttlSeconds: 3600 });
		const expiresAt = inSeconds(1);
		expect(await place.any.do("extendLease", { handle: box.handle, expiresAt })).toBe(expiresAt);
		await until("the lease has ended it", isOver, 1_000 + AT_ONCE_MS);
	});

	it("ends when its deadline is moved into the past", async () => {
		const box = await place.make({ ttlSeconds: 3600 });
		await place.any.do("extendLease", { handle: box.handle, expiresAt: inSeconds(-100) });
		await until("the lease has ended it", isOver, AT_ONCE_MS);
	});

	it("outlives its first deadline once the lease was lengthened", async () => {
		const box = await place.make({ ttlSeconds: 4 });
		const expiresAt = inSeconds(600);
		await place.any.do("extendLease", { handle: box.handle, expiresAt });
		await new Promise((resolve) => setTimeout(resolve, 7_000));
		expect(await looked(box)).toBe("ready");
		expect((await place.any.do("waitReady", box.handle)).lease.expiresAt).toBe(expiresAt);
		expect((await place.sh(box, "cat /run/sbx/deadline")).stdout).toBe(
			readFileSync(join(box.directory, "control/deadline"), "utf8"),
		);
	});

	it.each([
		["its supervisor", (box: Box) => pidOf(box.record.supervisor)],
		["bwrap", (box: Box) => parentOf(pidOf(box.record.init))],
		["its first process", (box: Box) => pidOf(box.record.init)],
	])("ends with %s, whole, and what runs in it too", async (_what, victim) => {
		const box = await place.make();
		const running = place.sh(box, "(trap '' TERM; setsid sleep 1000) & sleep 1000").catch(() => undefined);
		await until("a command runs", () => place.traces().filter(({ command }) => command === "sleep 1000").length === 2);
		kill(victim(box));
		await until("nothing is left", isOver, AT_ONCE_MS);
		await running;
		expect(await looked(box)).toBe("remains");
		expect(await place.any.do("teardown", box.handle)).toMatchObject({ remains: [] });
	});

	it("lives on when whoever runs a command in it is killed, and the command does not", async () => {
		const provider = place.provider();
		const box = await place.make({}, provider);
		const { directory } = box;
		const command = ["sh", "-c", "(trap '' TERM; setsid sleep 1000) & sleep 1000"];
		const running = provider.do("enter", { directory, command, timeoutSeconds: 600 }).catch(() => undefined);
		const commands = () => place.traces().filter((trace) => trace.command.includes("sleep 1000"));
		const sleepers = () => place.traces().filter((trace) => trace.command === "sleep 1000");
		await until("the command runs", () => sleepers().length === 2);
		await provider.end("SIGKILL");
		await running;
		await until("the command is over", () => commands().length === 0, AT_ONCE_MS);
		expect(await looked(box)).toBe("ready");
	});

	it("ends a command at its own limit, with all that it started", async () => {
		const box = await place.make();
		const script =
			"(trap '' TERM; setsid sh -c 'trap \"\" TERM HUP; sleep 1000') & trap '' TERM; sleep 1000; sleep 1000";
		expect(await place.enter(box, ["sh", "-c", script], 2)).toMatchObject({ exitCode: null, timedOut: true });
		const commands = () => place.traces().filter((trace) => trace.command === "sleep 1000");
		await until("the command is over", () => commands().length === 0, AT_ONCE_MS);
		expect(await looked(box)).toBe("ready");
	});

	it("keeps nothing of a command that has ended, and all of its files", async () => {
		const box = await place.make();
		expect(await looked(box)).toBe("ready");
		const before = place.traces().map(({ pid }) => pid);
		expect((await place.sh(box, "(setsid sleep 1000 &) ; echo kept >/workspace/file; echo over")).stdout).toBe(
			"over\n",
		);
		await until("the command is over", () => place.traces().length === before.length, AT_ONCE_MS);
		expect(place.traces().map(({ pid }) => pid)).toEqual(before);
		expect((await place.sh(box, "cat /workspace/file")).stdout).toBe("kept\n");
	});

	it("cannot be ended, stopped or kept alive from inside", async () => {
		const box = await place.make({ ttlSeconds: 8 });
		const script =
			"kill -KILL -1; kill -STOP 1; kill -KILL 1; echo 99999999 >/run/sbx/deadline; mv /run/sbx/deadline /run/sbx/x; rm -f /run/sbx/id; echo tried";
		await place.sh(box, script);
		expect(await looked(box)).toBe("ready");
		await until("the lease has ended it", isOver, 8_000 + AT_ONCE_MS);
	});

	it("keeps nothing of the probe that was started with it, where nobody asks for it", async () => {
		const asked = await place.make();
		expect(await looked(asked)).toBe("ready");
		const held = place.traces().length;
		await place.any.do("teardown", asked.handle);
		await place.make();
		await until("only the sandbox runs", () => place.traces().length === held, AT_ONCE_MS);
	});

	it("is dead or ready for whoever looks while it dies, never altered", async () => {
		for (let delayMs = 0; delayMs < 50; delayMs += 5) {
			const box = await place.make();
			const looking = looked(box);
			await new Promise((resolve) => setTimeout(resolve, delayMs));
			kill(pidOf(box.record.supervisor));
			expect(["ready", "remains"]).toContain(await looking);
			expect(await looked(box)).toBe("remains");
			await place.any.do("teardown", box.handle);
		}
	});

	it("is found, whatever state it is in, and removed from each", async () => {
		const box = await place.make();
		expect(await place.any.do("locate", {})).toMatchObject([{ handle: box.handle, alive: true }]);
		kill(pidOf(box.record.supervisor));
		await until(
			"it is seen to be dead",
			async () => (await place.any.do("locate", {}))[0]?.alive === false,
			AT_ONCE_MS,
		);
		expect(await place.any.do("locate", {})).toMatchObject([{ handle: box.handle, alive: false }]);
		expect((await place.any.do("teardown", box.handle)).remains).toEqual([]);
		expect(await place.any.do("locate", {})).toEqual([]);
		expect(await place.any.do("teardown", box.handle)).toEqual({ found: [], removed: [], remains: [] });
		expect(await looked(box)).toBe("gone");
	});
});

describe("a create that is stopped", () => {
	const HOOK = Symbol.for("pulumi-sandboxer.checkpoint");
	let place: Place;
	beforeEach(() => {
		place = new Place(staged, { name: "whoever runs this", uid: undefined });
	});
	afterEach(async () => {
		Reflect.deleteProperty(globalThis, HOOK);
		expect(await place.dispose()).toEqual([]);
	});

	it.each(CHECKPOINTS.filter((name) => name.startsWith("provision:") && name !== "provision:recorded"))(
		"at %s says so and leaves nothing",
		async (checkpoint) => {
			const caller = new AbortController();
			const hook = (name: string) => {
				if (name === checkpoint) caller.abort();
				return Promise.resolve();
			};
			Object.assign(globalThis, { [HOOK]: hook });
			const repo = join(place.folder, "repo");
			mkdirSync(repo);
			const extension = new BwrapExtension(bwrapHost(place.stateDir, process.env));
			const wanted = wish({ inputs: { repo } });
			const made = extension.provision(wanted.profile, wanted.inputs, "local", requestFor(wanted, caller.signal));
			const outcome = await made.then(
				() => "made",
				({ code }: { code: string }) => code,
			);
			// Once the sandbox says that it is there, it may as well be handed over.
			if (checkpoint === "provision:started") expect(["aborted", "made"]).toContain(outcome);
			else expect(outcome).toBe("aborted");
			if (outcome === "aborted") expect(place.leftovers()).toEqual([]);
			expect(readdirSync(join(place.stateDir, "bwrap"))).toEqual(outcome === "made" ? ["box"] : []);
		},
	);

	it("before its supervisor has said who that is: ends it all the same", async () => {
		const caller = new AbortController();
		const hook = (name: string) => {
			// It has the lock, and now comes no further.
			if (name === "provision:limits-made") for (const { pid } of place.traces()) process.kill(pid, "SIGSTOP");
			if (name === "provision:spawned") caller.abort();
			return Promise.resolve();
		};
		Object.assign(globalThis, { [HOOK]: hook });
		const extension = new BwrapExtension(bwrapHost(place.stateDir, process.env));
		const wanted = wish();
		const made = extension.provision(wanted.profile, wanted.inputs, "local", requestFor(wanted, caller.signal));
		await expect(made).rejects.toMatchObject({ code: "aborted" });
		expect(place.leftovers()).toEqual([]);
		expect(readdirSync(join(place.stateDir, "bwrap"))).toEqual([]);
	});

	it("before its probe: keeps nothing of that either", async () => {
		const caller = new AbortController();
		const extension = new BwrapExtension(bwrapHost(place.stateDir, process.env));
		const wanted = wish();
		const call = requestFor(wanted, caller.signal);
		const { handle } = await extension.provision(wanted.profile, wanted.inputs, "local", call);
		caller.abort();
		await expect(extension.waitReady(handle, call)).rejects.toMatchObject({ code: "aborted" });
		const { remains } = await extension.teardown(handle, requestFor(wanted, new AbortController().signal));
		expect([remains, place.leftovers()]).toEqual([[], []]);
	});
});
