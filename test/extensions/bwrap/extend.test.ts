import { readFileSync } from "node:fs";
import { join } from "node:path";
import { extendLease } from "../../../extensions/bwrap/extend";
import { locateAll } from "../../../extensions/bwrap/hold";
import { writeDeadline } from "../../../extensions/bwrap/holder/control-folder";
import { type HeldLease, HeldPlace, READY_UPTIME } from "./support/held-lease";
import { callFor } from "./support/host";

const call = callFor(new AbortController().signal);

describe("a change of a lease", () => {
	let place: HeldPlace;
	let lease: HeldLease;
	beforeEach(async () => {
		place = new HeldPlace();
		lease = await place.lease("box", { ttlSeconds: 600, maxSeconds: 3600 });
	});
	afterEach(() => place.dispose());

	const at = (seconds: number) => new Date(Date.parse(place.readyAt) + seconds * 1000).toISOString();
	const extend = (seconds: number | undefined, changes = {}) =>
		extendLease(place.site, lease.handle, seconds === undefined ? undefined : at(seconds), { ...call, ...changes });
	const deadline = () => Number(readFileSync(join(lease.directory, "control/deadline"), "utf8")) - READY_UPTIME;

	it("is granted once the supervisor obeys it, and then stands in the record", async () => {
		expect(await extend(1200)).toBe(at(1200));
		expect(await lease.verdict()).toEqual({ kind: "obeys", deadline: READY_UPTIME + 1200 });
		expect(await lease.record()).toMatchObject({ expires_at: at(1200), max_ttl_seconds: 3600 });
	});

	it("is cut to the longest lease, counted from when it was ready", async () => {
		expect(await extend(36_000)).toBe(at(3600));
		expect(deadline()).toBe(3600);
	});

	it("takes another longest lease along, and is cut to that", async () => {
		expect(await extend(36_000, { terms: { maxSeconds: 7200 } })).toBe(at(7200));
		expect(await lease.record()).toMatchObject({ max_ttl_seconds: 7200 });
		expect(await extend(36_000)).toBe(at(7200));
	});

	it("to the same end leaves it, unless the longest lease is shorter now", async () => {
		expect(await extend(undefined, { terms: { maxSeconds: 7200 } })).toBe(at(600));
		expect(await extend(undefined, { terms: { maxSeconds: 60 } })).toBe(at(60));
		expect(deadline()).toBe(60);
	});

	it("is refused once the lease is over, whether its supervisor has seen that or not", async () => {
		place.set(READY_UPTIME + 600);
		await expect(extend(1200)).rejects.toMatchObject({ code: "gone", message: expect.stringContaining(at(600)) });
		expect(deadline()).toBe(600);
		await lease.over();
		await expect(extend(1200)).rejects.toMatchObject({ code: "gone" });
		expect((await locateAll(place.site))[0]).toMatchObject({ isOver: true, expiresAt: at(600) });
	});

	it("into the past ends it at once, and is then granted", async () => {
		expect(await extend(-100)).toBe(at(-100));
		await lease.over();
		expect(await lease.record()).toMatchObject({ expires_at: at(-100) });
	});

	it("claims nothing where the supervisor does not answer, and leaves the deadline as it was", async () => {
		process.kill(lease.pid, "SIGSTOP");
		await expect(extend(1200, { timeoutSeconds: 1 })).rejects.toMatchObject({
			code: "unknown",
			message: expect.stringContaining(`process ${lease.pid}, does not answer`),
		});
		expect(deadline()).toBe(600);
		expect(await lease.record()).toMatchObject({ expires_at: at(600) });
		process.kill(lease.pid, "SIGCONT");
		expect(await extend(1200)).toBe(at(1200));
	});

	it("that was killed before it could write the record is shown as it is in force", async () => {
		writeDeadline(join(lease.directory, "control"), READY_UPTIME + 900);
		expect((await locateAll(place.site))[0]).toMatchObject({ isOver: false, expiresAt: at(900) });
		expect(await extend(1200)).toBe(at(1200));
	});

	it("has one outcome for many at once: the last that was granted is in force", async () => {
		const granted = await Promise.all([700, 800, 900, 1000].map((seconds) => extend(seconds)));
		expect(granted).toEqual([700, 800, 900, 1000].map(at));
		expect(granted).toContain((await lease.record())?.expires_at);
		expect(at(deadline())).toBe((await lease.record())?.expires_at);
	});

	it("is refused to the holder of another life, or of another claim", async () => {
		for (const change of [{ generation: 2 }, { claim: 2 }]) {
			const stranger = extendLease(place.site, { ...lease.handle, ...change }, at(1200), call);
			await expect(stranger).rejects.toMatchObject({ code: "gone" });
		}
		expect(deadline()).toBe(600);
	});
});
