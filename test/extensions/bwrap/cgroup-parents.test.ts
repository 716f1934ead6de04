import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alteredLimits, limitFiles, planCgroups, removeCgroups } from "../../../extensions/bwrap/limits/cgroup";
import { cgroupName } from "../../../extensions/bwrap/limits/cgroup-name";
import { findCgroupParents } from "../../../extensions/bwrap/limits/cgroup-parents";

const NOTHING = { unified: undefined, perController: {} };

describe("where control groups can be made", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "cgroups-"));
	});
	afterEach(() => rmSync(folder, { recursive: true }));

	/** A group as a folder of plain files. The kernel's own refusals show as files that hold something else. */
	function group(path: string, files: Readonly<Record<string, string>> = {}): string {
		const at = join(folder, path);
		mkdirSync(at, { recursive: true });
		for (const [name, text] of Object.entries({ "cgroup.procs": "", ...files })) writeFileSync(join(at, name), text);
		return at;
	}

	/** What /proc/self would say: mounts as [point, type, options, root], and the caller's own groups. */
	async function look(mounts: readonly (readonly [string, string, string, string?])[], memberships: readonly string[]) {
		const proc = join(folder, "proc");
		mkdirSync(proc, { recursive: true });
		const lines = mounts.map(
			([point, type, options, root = "/"], index) =>
				`${30 + index} 23 0:${index} ${root} ${point} rw,nosuid,relatime shared:9 - ${type} ${type} ${options}`,
		);
		writeFileSync(join(proc, "mountinfo"), `23 1 254:0 / / rw - ext4 /dev/root rw\n${lines.join("\n")}\n`);
		writeFileSync(join(proc, "cgroup"), `${memberships.join("\n")}\n`);
		const { unified, perController } = findCgroupParents(proc);
		const plain = (path: string) => path.replace(/\/$/, "");
		return {
			unified: unified === undefined ? undefined : plain(unified),
			perController: Object.fromEntries(Object.entries(perController).map(([name, path]) => [name, plain(path)])),
		};
	}

	const ALL = "cpuset cpu io memory pids";

	it("version 2, handed down: the caller's own group", async () => {
		const point = group("v2");
		const own = group("v2/user.slice/app", { "cgroup.controllers": ALL, "cgroup.subtree_control": "cpu memory pids" });
		expect(await look([[point, "cgroup2", "rw,nsdelegate"]], ["0::/user.slice/app"])).toEqual({
			unified: own,
			perController: {},
		});
	});

	it("version 2, the caller's own group holds processes: the one above it that hands all three down", async () => {
		const point = group("v2");
		const above = group("v2/user.slice", { "cgroup.controllers": ALL, "cgroup.subtree_control": "cpu memory pids" });
		// The write is refused (EBUSY): the file goes on without them.
		group("v2/user.slice/app", { "cgroup.controllers": ALL, "cgroup.subtree_control": "" });
		expect(await look([[point, "cgroup2", "rw"]], ["0::/user.slice/app"])).toMatchObject({ unified: above });
	});

	it("version 2, only some controllers handed down: nowhere", async () => {
		const point = group("v2", { "cgroup.controllers": "memory pids", "cgroup.subtree_control": "memory pids" });
		group("v2/app", { "cgroup.controllers": "memory pids", "cgroup.subtree_control": "memory pids" });
		expect(await look([[point, "cgroup2", "rw"]], ["0::/app"])).toEqual(NOTHING);
	});

	it("version 2, asks for the controllers where the group could hand them down", async () => {
		const point = group("v2", { "cgroup.controllers": ALL, "cgroup.subtree_control": "" });
		await look([[point, "cgroup2", "rw"]], ["0::/"]);
		expect(readFileSync(join(point, "cgroup.subtree_control"), "utf8")).toBe("+memory +cpu +pids");
	});

	it("version 2, seen through a mount that begins further down", async () => {
		const point = group("v2");
		const own = group("v2/app", { "cgroup.controllers": ALL, "cgroup.subtree_control": "cpu memory pids" });
		const mount = [point, "cgroup2", "rw", "/machine/box"] as const;
		expect(await look([mount], ["0::/machine/box/app"])).toMatchObject({ unified: own });
	});

	it("version 1: below the caller's own group, each controller for itself", async () => {
		const memory = group("memory/own/group");
		const pids = group("pids");
		const cpu = group("cpu,cpuacct/batch");
		const mounts = [
			[join(folder, "memory"), "cgroup", "rw,memory"],
			[pids, "cgroup", "rw,pids"],
			[join(folder, "cpu,cpuacct"), "cgroup", "rw,cpu,cpuacct"],
		] as const;
		expect(await look(mounts, ["4:memory:/own/group", "3:cpu,cpuacct:/batch", "2:pids:/"])).toEqual({
			unified: undefined,
			perController: { memory, pids, cpu },
		});
	});

	it("version 1: leaves out what is not mounted, or not the caller's to write", async () => {
		const pids = group("pids");
		mkdirSync(join(folder, "memory"));
		const mounts = [
			[join(folder, "memory"), "cgroup", "rw,memory"],
			[pids, "cgroup", "rw,pids"],
		] as const;
		const { perController } = await look(mounts, ["4:memory:/", "2:pids:/", "1:cpu:/"]);
		expect(perController).toEqual({ pids });
	});

	it("both (hybrid): version 2 has no controllers there, so version 1", async () => {
		const unified = group("unified", { "cgroup.controllers": "", "cgroup.subtree_control": "" });
		const memory = group("memory/session/4f");
		const [cpu, pids] = [group("cpu"), group("pids")];
		const mounts = [
			[cpu, "cgroup", "rw,cpu"],
			[join(folder, "memory"), "cgroup", "rw,memory"],
			[pids, "cgroup", "rw,pids"],
			[unified, "cgroup2", "rw"],
		] as const;
		const memberships = ["9:name=systemd:/", "8:pids:/", "4:memory:/session/4f", "1:cpu:/", "0::/"];
		expect(await look(mounts, memberships)).toEqual({ unified: undefined, perController: { memory, cpu, pids } });
	});

	it("none mounted: nowhere", async () => {
		expect(await look([], ["0::/"])).toEqual(NOTHING);
	});

	it("an ordinary user without a hand-down: nowhere", async () => {
		if (process.getuid?.() === 0) return;
		const point = group("v2", { "cgroup.controllers": ALL, "cgroup.subtree_control": "cpu memory pids" });
		chmodSync(join(point, "cgroup.procs"), 0o444);
		expect(await look([[point, "cgroup2", "rw"]], ["0::/"])).toEqual(NOTHING);
		chmodSync(join(point, "cgroup.procs"), 0o644);
	});

	it("this machine: what is planned names folders below those found", async () => {
		const parents = findCgroupParents();
		const planned = planCgroups("sandboxer-x", { memory_mb: 64, cpu: 1 });
		const found = parents.unified === undefined ? Object.values(parents.perController) : [parents.unified];
		expect(planned.map((group) => group.folder).sort()).toEqual(
			found.map((parent) => join(parent, "sandboxer-x")).sort(),
		);
	});
});

describe("the limits of a control group", () => {
	it.each([
		["pids", {}, { "pids.max": "2048" }],
		["memory", {}, {}],
		["memory", { memory_mb: 64 }, { "memory.limit_in_bytes": "67108864", "memory.memsw.limit_in_bytes": "67108864" }],
		["cpu", {}, {}],
		["cpu", { cpu: 1.5 }, { "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "150000" }],
		["cpu", { cpu: 0.001 }, { "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "1000" }],
		["all", {}, { "pids.max": "2048" }],
		[
			"all",
			{ memory_mb: 64, cpu: 0.5 },
			{ "pids.max": "2048", "memory.max": "67108864", "memory.swap.max": "0", "cpu.max": "50000 100000" },
		],
	] as const)("%s with %j", (controller, resources, files) => {
		const written = limitFiles(controller, resources).map(({ file, value }) => [file, value] as const);
		expect(Object.fromEntries(written)).toEqual(files);
	});

	it("that differ from what was asked for are told", async () => {
		const folder = mkdtempSync(join(tmpdir(), "limits-"));
		try {
			writeFileSync(join(folder, "memory.max"), "max\n");
			writeFileSync(join(folder, "pids.max"), "2048\n");
			const altered = alteredLimits([{ controller: "all", folder }], { memory_mb: 64, cpu: 1 });
			expect(altered).toEqual(["memory.max=max", "cpu.max=missing"]);
		} finally {
			rmSync(folder, { recursive: true });
		}
	});

	it("are two sandboxes' own, where two state folders hold the same id", () => {
		const names = ["/srv/a/box", "/srv/b/box"].map((directory) => cgroupName(directory, "box"));
		expect(new Set(names).size).toBe(2);
		for (const name of names) expect(name).toMatch(/^sandboxer-box-[0-9a-f]{8}$/);
	});
});

describe("the removal of control groups", () => {
	it.each([
		["/sys/fs/cgroup/memory/other", "another name"],
		["/tmp/sandboxer-box-12345678", "another place"],
		["/sys/fs/cgroup/../../../tmp/sandboxer-box-12345678", "a way out"],
	])("leaves %s alone (%s)", async (group) => {
		const remains = await removeCgroups("sandboxer-box-12345678", [{ controller: "memory", folder: group }], 100);
		expect(remains).toEqual([`control group ${group} (not one of ours by its name: left alone)`]);
	});

	it("is done where the group is gone already", async () => {
		const folder = "/sys/fs/cgroup/memory/sandboxer-no-such-12345678";
		expect(await removeCgroups("sandboxer-no-such-12345678", [{ controller: "memory", folder }], 100)).toEqual([]);
	});
});
