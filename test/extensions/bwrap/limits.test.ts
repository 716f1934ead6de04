import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kill } from "../../support/kill";
import { profile } from "./support/host";
import { type Box, Place } from "./support/place";
import { Staged } from "./support/staged";
import { until } from "./support/until";
import { USERS } from "./support/users";

/** Keeps all of its input in memory. */
const TAKE_300_MB = "head -c 300000000 /dev/zero | tail >/dev/null";
const FILL = 'head -c 300000000 /dev/zero >"$1/fill"; exit $?';

const staged = new Staged();
afterAll(() => staged.remove());

describe.each(USERS)("the limits of a sandbox of $name", (user) => {
	let place: Place;
	const hasGroup = ({ record }: Box, controller: string) =>
		record.cgroups.some((group) => group.controller === controller || group.controller === "all");

	beforeEach(() => {
		place = new Place(staged, user);
	});
	afterEach(async () => expect(await place.dispose()).toEqual([]));

	describe("with 64 MiB", () => {
		let box: Box;
		beforeEach(async () => {
			box = await place.make({ profile: profile({ resources: { memory_mb: 64 } }) });
		});
		const ready = () => place.any.do("waitReady", box.handle);

		it("end a process that takes more, and not the sandbox", async () => {
			const { exitCode, stdout, stderr } = await place.sh(box, `${TAKE_300_MB}; echo "ended with $?"`);
			if (hasGroup(box, "memory"))
				expect([exitCode, stdout]).toContainEqual(exitCode === null ? null : "ended with 137\n");
			else expect({ stdout, stderr }).toEqual({ stdout: "ended with 1\n", stderr: "tail: memory exhausted\n" });
			expect((await ready()).controls["memory"]?.status).toBe(
				hasGroup(box, "memory") ? "enforced" : "enforced-with-gaps",
			);
		});

		it("end all that one command takes in several processes, where a control group counts them together", async () => {
			const script = `for i in 1 2 3 4; do (${TAKE_300_MB.replace("300", "40")}; echo "$?") & done; wait`;
			const { exitCode, stdout } = await place.sh(box, script);
			const all = exitCode === 0 && stdout === "0\n".repeat(4);
			expect(all).toBe(!hasGroup(box, "memory"));
			await ready();
		});

		it("bound /tmp, /dev/shm and the home, and leave room to empty them", async () => {
			for (const folder of ["/tmp", "/dev/shm", "/home/sandbox"]) {
				expect(await place.sh(box, FILL, folder)).toMatchObject({
					exitCode: 1,
					stderr: expect.stringContaining("No space left on device") as unknown,
				});
			}
			await ready();
			expect((await place.sh(box, "rm /tmp/fill /dev/shm/fill ~/fill; echo empty")).stdout).toBe("empty\n");
			await ready();
		});

		it("leave the sandbox alive when its memory is used up for good, and do not call it altered", async () => {
			if (!hasGroup(box, "memory")) return;
			// Shared memory of its ipc namespace outlives the command that made it.
			const script =
				'my $id = shmget(1, 60 * 1024 * 1024, 0666 | 01000); for (0 .. 59) { shmwrite($id, "x" x 1048576, $_ * 1048576, 1048576) }';
			await place.enter(box, ["perl", "-e", script]);
			const { exitCode } = await place.enter(box, ["perl", "-e", '$x = "a" x 30000000']);
			expect(exitCode).not.toBe(0);
			const looked = await ready().then(
				() => "ready",
				({ code }: { code: string }) => code,
			);
			expect(["ready", "unknown"]).toContain(looked);
			expect(place.traces().map(({ command }) => command)).toContain("sleep infinity");
		});
	});

	it("stop a fork bomb, and not the sandbox", async () => {
		const box = await place.make();
		const bomb = "i=0; while [ $i -lt 2600 ]; do sleep 1000 & i=$((i + 1)); echo $i; done";
		const { exitCode, stdout, stderr } = await place.enter(box, ["sh", "-c", bomb], 100);
		expect(exitCode).toBe(2);
		expect(stderr).toMatch(/^sh: \d: Cannot fork$/m);
		const started = Number(stdout.trim().split("\n").pop());
		expect(started).toBeGreaterThan(1500);
		expect(started).toBeLessThan(2048);
		await until("the bomb is gone", () => place.traces().every(({ command }) => command !== "sleep 1000"));
		await place.any.do("waitReady", box.handle);
		expect(await place.sh(box, "echo works")).toMatchObject({ stdout: "works\n" });
	});

	it("bound the cpu by a control group, or refuse to promise it", async () => {
		const wanted = { profile: profile({ resources: { cpu: 0.5 } }) };
		const made = await place.make(wanted).catch((thrown: Error) => thrown);
		if (made instanceof Error) {
			expect(made).toMatchObject({
				code: "unsupported",
				message: expect.stringContaining("resources.cpu (0.5)") as unknown,
			});
			expect(existsSync(join(place.stateDir, "bwrap/box"))).toBe(false);
			return;
		}
		const { controls } = await place.any.do("waitReady", made.handle);
		expect(controls["cpu"]).toEqual({ status: "enforced", note: "0.5 by control group" });
		const folder = made.record.cgroups.find(({ controller }) => controller === "cpu" || controller === "all")?.folder;
		const quota = ["cpu.cfs_quota_us", "cpu.max"].map((name) => join(folder ?? "", name)).find(existsSync);
		expect(readFileSync(quota ?? "", "utf8").trim()).toMatch(/^50000( 100000)?$/);
	});

	it("are of the kernel: control groups hold the first process and every command", async () => {
		const box = await place.make({ profile: profile({ resources: { memory_mb: 256 } }) });
		const members = (folder: string) => readFileSync(join(folder, "cgroup.procs"), "utf8").split("\n");
		const command = place.enter(box, ["sleep", "76543"], 120).catch(() => undefined);
		const find = () => place.traces().find((trace) => trace.command === "sleep 76543");
		await until("the command runs", () => find() !== undefined);
		for (const { folder } of box.record.cgroups) {
			expect(members(folder)).toEqual(expect.arrayContaining([String(box.record.init?.pid), String(find()?.pid)]));
			expect(members(folder)).not.toContain(String(box.record.supervisor?.pid));
		}
		kill(find()?.pid);
		await command;
	});
});
