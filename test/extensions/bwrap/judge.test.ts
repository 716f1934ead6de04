import { type InsideFacts, parseInsideFacts } from "../../../extensions/bwrap/probes/inside-facts";
import { judge, notProbed } from "../../../extensions/bwrap/probes/judge";
import type { OutsideFacts } from "../../../extensions/bwrap/probes/outside-facts";
import type { BwrapRecord } from "../../../extensions/bwrap/record";
import type { SandboxerError } from "../../../provider/errors";
import { aRecord } from "./support/a-record";

const RECORD = aRecord({
	own_uid: 1_900_000_000,
	resources: { memory_mb: 64, cpu: 1 },
	cgroups: [
		{ controller: "memory", folder: "/sys/fs/cgroup/memory/sandboxer-box" },
		{ controller: "pids", folder: "/sys/fs/cgroup/pids/sandboxer-box" },
		{ controller: "cpu", folder: "/sys/fs/cgroup/cpu/sandboxer-box" },
	],
	init: { boot_id: "b", pid: 4242, start_ticks: 1 },
	supervisor: { boot_id: "b", pid: 4240, start_ticks: 1 },
});

/** What the probe prints in a sandbox that is as it should be. */
const PRINTED = `/proc/self/status:Name:	sh
/proc/self/status:NSpid:	2
/proc/self/status:CapEff:	0000000000000000
/proc/self/status:CapBnd:	000001ffffffffff
/proc/self/status:NoNewPrivs:	1
/proc/self/status:Seccomp:	2
/proc/self/status:Seccomp_filters:	1
/proc/self/limits:Limit                     Soft Limit           Hard Limit           Units
/proc/self/limits:Max data size             unlimited            unlimited            bytes
/proc/self/limits:Max core file size        1                    1                    bytes
/proc/self/limits:Max processes             96365                96365                processes
/proc/self/mountinfo:142 44 0:49 /newroot / ro,nosuid,nodev,relatime - tmpfs tmpfs rw,uid=1900000000
/proc/self/mountinfo:143 142 254:0 /usr /usr ro,nosuid,nodev,relatime - ext4 /dev/root rw
/proc/self/mountinfo:144 142 254:0 /srv/box/etc/passwd /etc/passwd ro,nosuid,nodev,relatime - ext4 /dev/root rw
/proc/self/mountinfo:158 142 0:50 / /dev ro,nosuid,nodev,relatime - tmpfs tmpfs rw,mode=755
/proc/self/mountinfo:159 158 0:6 /null /dev/null rw,nosuid,relatime - devtmpfs devtmpfs rw
/proc/self/mountinfo:165 158 0:51 / /dev/pts rw,nosuid,noexec,relatime - devpts devpts rw,mode=620,ptmxmode=666
/proc/self/mountinfo:166 158 0:52 / /dev/shm rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=16384k,mode=755
/proc/self/mountinfo:167 142 0:53 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw
/proc/self/mountinfo:168 142 0:54 / /tmp rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=16384k
/proc/self/mountinfo:169 142 0:55 / /run rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=1024k,mode=755
/proc/self/mountinfo:170 169 254:0 /srv/box/control /run/sbx ro,nosuid,nodev,relatime - ext4 /dev/root rw
/proc/self/mountinfo:171 142 0:56 / /home/sandbox rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=16384k,mode=755
/proc/self/mountinfo:172 142 254:0 /srv/box/workspace /workspace rw,nosuid,nodev,relatime - ext4 /dev/root rw
/proc/self/mountinfo:173 167 0:58 / /proc ro,nosuid,nodev,noexec,relatime - proc proc rw
/proc/self/cgroup:8:pids:/
/proc/self/cgroup:4:memory:/
/proc/self/cgroup:1:cpu,cpuacct:/
/proc/self/cgroup:0::/../../session
/proc/net/dev:Inter-|   Receive                                                |  Transmit
/proc/net/dev: face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets
/proc/net/dev:    lo:       0       0    0    0    0     0          0         0        0       0
/proc/self/stat:2 (sh) S 1 1 1 0 -1 4194304 73
there /home/sandbox
there /proc/1
there /proc/2
cgroup:[101]
ipc:[102]
mnt:[203]
net:[104]
pid:[205]
pid:[205]
time:[1]
user:[106]
uts:[107]
/proc/1/cmdline:bwrap\0--die-with-parent\0--\0sh\0-c\0first line
/proc/1/cmdline:end\0
descriptor 0
descriptor 1
descriptor 2
writable /workspace
userns refused
/proc/2/environ:HOME=x\0LANG=x\0PATH=x\0PWD=x\0
end
`;

const OUTSIDE: OutsideFacts = {
	uid: 1_900_000_000,
	sharedNamespaces: [],
	namespaces: new Map(
		["cgroup:[101]", "ipc:[102]", "mnt:[103]", "net:[104]", "pid:[105]", "user:[106]", "uts:[107]"].map(
			(link) => [link.split(":")[0] ?? "", link] as const,
		),
	),
	status: new Map([
		["CapEff", "0000000000000000"],
		["CapBnd", "0000000000000000"],
		["NoNewPrivs", "1"],
		["Seccomp", "2"],
		["Seccomp_filters", "1"],
		["NSsid", "4242\t1"],
	]),
	filtersHere: 0,
	limits: new Map([["Max core file size", "1"]]),
	environment: ["PATH", "PWD"],
	endsWithSupervisor: true,
	cgroupFaults: [],
};

const NO_CGROUPS: Partial<BwrapRecord> = { cgroups: [], resources: { memory_mb: 64 } };
const RLIMITED = PRINTED.replace(/(Max data size +)\S+( +)\S+/, "$167108864$267108864").replace(
	/(Max processes +)\S+( +)\S+/,
	"$12048$22048",
);

function verdict(printed: string, outside: Partial<OutsideFacts> = {}, record: Partial<BwrapRecord> = {}): string {
	try {
		judge({ ...RECORD, ...record }, parseInsideFacts(printed), { ...OUTSIDE, ...outside });
		return "handed out";
	} catch (thrown) {
		const { code, message } = thrown as SandboxerError;
		expect(code).toBe("control");
		return message;
	}
}

describe("a sandbox that is as it should be", () => {
	it("is handed out, each control by what enforces it", () => {
		const controls = judge(RECORD, parseInsideFacts(PRINTED), OUTSIDE);
		expect(Object.fromEntries(Object.entries(controls).map(([name, { status }]) => [name, status]))).toEqual({
			isolation: "enforced",
			filesystem: "enforced",
			syscalls: "enforced",
			network: "enforced",
			lease: "enforced",
			idle: "unsupported",
			memory: "enforced",
			cpu: "enforced",
			pids: "enforced",
			disk: "unsupported",
		});
	});

	it("is handed out with its gaps named where rlimits stand for control groups, and the network is allowed", () => {
		const record = { ...RECORD, ...NO_CGROUPS, network: "allow" as const };
		const controls = judge(record, parseInsideFacts(RLIMITED), { ...OUTSIDE, sharedNamespaces: ["net"] });
		expect(controls["memory"]).toEqual({
			status: "enforced-with-gaps",
			note: "64 MiB a process and a quarter of it a tmpfs, not in sum: no control group",
		});
		expect(controls["pids"]).toEqual({ status: "enforced-with-gaps", note: "2048 a command, by rlimit" });
		expect(controls["network"]?.status).toBe("enforced-with-gaps");
		expect(controls["cpu"]?.status).toBe("unsupported");
	});

	it.each([
		["on a kernel that does not count filters", PRINTED.replace(/^.*Seccomp_filters.*\n/m, ""), {}, {}],
		[
			"under a filter of whoever probes, with its own on top",
			PRINTED.replace("Seccomp_filters:	1", "Seccomp_filters:	3"),
			{ filtersHere: 2, status: new Map([...OUTSIDE.status, ["Seccomp_filters", "3"]]) },
			{},
		],
		[
			"in one group of version 2",
			PRINTED.replace("0::/../../session", "0::/"),
			{},
			{ cgroups: [{ controller: "all" as const, folder: "/sys/fs/cgroup/x" }] },
		],
		[
			"with network allow and the machine's interfaces",
			PRINTED.replace(/^(.*dev: {4}lo:.*)$/m, "$1\n/proc/net/dev:  eth0: 1 2"),
			{ sharedNamespaces: ["net"] },
			{ network: "allow" as const },
		],
		[
			"with a read-only workspace under access ro",
			PRINTED.replace("writable /workspace\n", "").replace("/workspace rw,", "/workspace ro,"),
			{},
			{ access: "ro" as const },
		],
	])("is handed out %s", (_what, printed, outside, record) => {
		expect(verdict(printed, outside, record)).toBe("handed out");
	});
});

/** What differs in what the probe prints → what is said. */
const INSIDE: readonly (readonly [what: string, from: string | RegExp, to: string, says: RegExp])[] = [
	["stops before its end", /^end$/m, "", /probe: the probe inside did not see everything, or/],
	["did not read all", /^.*environ:.*\n/m, "", /probe: the probe inside did not see everything, or/],
	["prints nothing", /^.*$/s, "", /probe: .*isolation: .*syscalls: .*filesystem: .*memory: /],
	[
		"has a capability",
		"CapEff:	0000000000000000",
		"CapEff:	0000000000200000",
		/isolation: the capabilities inside are 0+200000/,
	],
	["says nothing of capabilities", /^.*CapEff.*\n/m, "", /isolation: the capabilities inside are unknown/],
	["may gain privileges", "NoNewPrivs:	1", "NoNewPrivs:	0", /isolation: no_new_privs inside is not set/],
	["has no filter", "Seccomp:	2", "Seccomp:	0", /syscalls: no seccomp filter is in force/],
	["makes a user namespace", "userns refused", "userns made", /syscalls: a user namespace was not refused/],
	[
		"does not say whether it makes user namespaces",
		"userns refused\n",
		"",
		/syscalls: a user namespace was not refused/,
	],
	["has a core limit of 0", /(core file size +)1( +)1/, "$10$20", /isolation: the core limit inside is 0/],
	[
		"has no core limit",
		/(core file size +)1( +)1/,
		"$1unlimited$2unlimited",
		/isolation: the core limit inside is unlimited/,
	],
	["has a terminal", "(sh) S 1 1 1 0", "(sh) S 1 1 1 34816", /isolation: a terminal of this machine is attached/],
	[
		"is in a session from outside",
		"(sh) S 1 1 1 0",
		"(sh) S 1 1 0 0",
		/isolation: a command is in a session that began/,
	],
	["has a foreign descriptor", "descriptor 2", "descriptor 2\ndescriptor 251", /isolation: foreign descriptors .* 251/],
	["has a foreign variable", "PWD=x", "PWD=x\0AWS_SECRET=x", /isolation: foreign variables .* AWS_SECRET/],
	["sees other processes", "NSpid:	2", "NSpid:	20	2", /isolation: \/proc inside shows other processes/],
	["shares the sandbox's pid namespace", /pid:\[205\]/g, "pid:[105]", /isolation: .* no pid namespace of its own/],
	["shares the sandbox's mounts", "mnt:[203]", "mnt:[103]", /isolation: .* no mnt namespace of its own/],
	["is in another user namespace", "user:[106]", "user:[1]", /isolation: .* another user namespace/],
	["is in another ipc namespace", "ipc:[102]", "ipc:[1]", /isolation: .* another ipc namespace/],
	["is in another network", "net:[104]", "net:[1]", /network: .* another net namespace/],
	["does not say where it is", /^uts.*\n/m, "", /isolation: .* another uts namespace/],
	[
		"has another interface",
		/^(.*dev: {4}lo:.*)$/m,
		"$1\n/proc/net/dev:  eth0: 1 2",
		/network: network deny, but there is lo, eth0/,
	],
	["would outlive its caller", "--die-with-parent\0", "", /lease: a command would outlive whoever entered/],
	[
		"writes /",
		"writable /workspace",
		"writable /workspace\nwritable /.sandboxer-probe",
		/filesystem: writable inside: \/\.sand/,
	],
	[
		"writes a kernel setting",
		"writable /workspace",
		"writable /workspace\nwritable /proc/sys/vm/swappiness",
		/filesystem: writable inside: \/proc\/sys/,
	],
	["has a writable /proc", "/proc ro,", "/proc rw,", /filesystem: not read-only: \/proc/],
	["has no /proc", /^.*mountinfo:.* \/proc .*\n/gm, "", /filesystem: not read-only/],
	["has a writable /usr", "/usr ro,", "/usr rw,", /filesystem: not read-only: \/usr/],
	["has writable marks", "/run/sbx ro,", "/run/sbx rw,", /filesystem: not read-only: \/run\/sbx/],
	[
		"has another mount",
		"/proc/self/cgroup:8:",
		"/proc/self/mountinfo:1 1 0:1 / /host ro,nosuid,nodev - ext4 x rw\n/proc/self/cgroup:8:",
		/filesystem: foreign mounts: \/host/,
	],
	["may use setuid files", "/usr ro,nosuid,", "/usr ro,", /filesystem: mounts with devices or setuid files: \/usr/],
	[
		"may use devices",
		"/workspace rw,nosuid,nodev,",
		"/workspace rw,nosuid,",
		/filesystem: mounts with devices .*\/workspace/,
	],
	[
		"has the machine's /dev",
		"/dev ro,nosuid,nodev,relatime - tmpfs",
		"/dev ro,nosuid,nodev,relatime - devtmpfs",
		/filesystem: \/dev is that/,
	],
	["cannot write its workspace", "writable /workspace\n", "", /filesystem: \/workspace is not rw/],
	[
		"sees somebody's home",
		"there /home/sandbox",
		"there /home/sandbox\nthere /home/alice",
		/filesystem: foreign folders: \/home\/alice/,
	],
	["sees root's home", "there /home/sandbox", "there /root", /filesystem: foreign folders: \/root/],
	[
		"has an unbounded /tmp",
		"/tmp rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=16384k",
		"/tmp rw,nosuid,nodev,relatime - tmpfs tmpfs rw",
		/memory: \/tmp has no size limit/,
	],
	[
		"has a larger /dev/shm",
		/(\/dev\/shm .*)size=16384k/,
		"$1size=16388k",
		/memory: \/dev\/shm has .* a larger one than 16384 KiB/,
	],
	["has no /run", /^.*mountinfo:.* \/run .*\n/m, "", /memory: \/run has no size limit/],
	["has an unbounded home", /(\/home\/sandbox .*),size=16384k/, "$1", /memory: \/home\/sandbox has no size limit/],
	["is outside its memory group", "4:memory:/", "4:memory:/../x", /limits: .* outside the group of memory/],
	["is outside its cpu group", "1:cpu,cpuacct:/", "1:cpu,cpuacct:/..", /limits: .* outside the group of cpu/],
];

describe("a sandbox is not handed out when the probe inside", () => {
	it.each(INSIDE)("%s", (_what, from, to, says) => {
		const printed = PRINTED.replace(from, to);
		expect(printed).not.toBe(PRINTED);
		expect(verdict(printed)).toMatch(says);
	});

	it.each([
		["writes a workspace under access ro", PRINTED, { access: "ro" as const }, /filesystem: \/workspace is not ro/],
		[
			"has a workspace that is only by its mode unwritable under access ro",
			PRINTED.replace("writable /workspace\n", ""),
			{ access: "ro" as const },
			/filesystem: \/workspace is not ro/,
		],
		[
			"has no limit of processes, and no control group",
			PRINTED,
			NO_CGROUPS,
			/limits: Max processes is 96365 instead of 2048/,
		],
		[
			"has no limit of memory, and no control group",
			PRINTED,
			NO_CGROUPS,
			/limits: Max data size is unlimited instead of 67108864/,
		],
	])("%s", (_what, printed, record, says) => {
		expect(verdict(printed, {}, record)).toMatch(says);
	});
});

describe("a sandbox is not handed out when from outside", () => {
	const status = (name: string, value: string) => ({ status: new Map([...OUTSIDE.status, [name, value]]) });
	const ROWS: readonly (readonly [string, Partial<OutsideFacts>, RegExp])[] = [
		["it is root of the machine", { uid: 0 }, /isolation: it runs as uid 0 of this machine/],
		["it is another user", { uid: 1000 }, /isolation: it runs as uid 1000 of this machine, not as 1900000000/],
		["its user is not known", { uid: Number.NaN }, /isolation: it runs as uid NaN/],
		...["user", "mnt", "pid", "ipc", "uts", "cgroup"].map(
			(kind) =>
				[
					`it shares the ${kind} namespace`,
					{ sharedNamespaces: [kind] },
					new RegExp(`isolation: it shares the ${kind}`),
				] as const,
		),
		["it shares the network under deny", { sharedNamespaces: ["net"] }, /network: it shares the net namespace/],
		[
			"its first process has a capability",
			status("CapEff", "1"),
			/isolation: the capabilities of its first process are 1/,
		],
		[
			"its first process may get one",
			status("CapBnd", "1ff"),
			/isolation: its first process may get the capabilities 1ff/,
		],
		["its first process may gain privileges", status("NoNewPrivs", "0"), /isolation: no_new_privs of its first/],
		["its first process has no filter", status("Seccomp", "0"), /syscalls: .* on its first process/],
		[
			"its first process has only the filter of whoever probes",
			{ filtersHere: 1 },
			/syscalls: no seccomp filter is in force on its first process; syscalls: no seccomp/,
		],
		[
			"its first process is in a session of the machine",
			status("NSsid", "4000\t0"),
			/isolation: its first process is in a session/,
		],
		[
			"its first process has a core limit of 0",
			{ limits: new Map([["Max core file size", "0"]]) },
			/isolation: the core limit of its first/,
		],
		[
			"its first process was given a variable",
			{ environment: ["PATH", "TOKEN"] },
			/isolation: foreign variables .* TOKEN/,
		],
		["it would outlive its supervisor", { endsWithSupervisor: false }, /lease: it would outlive its supervisor/],
		[
			"a control group is not as it was made",
			{ cgroupFaults: ["memory.max=max"] },
			/limits: control groups: memory\.max=max/,
		],
	];
	it.each(ROWS)("%s", (_what, outside, says) => {
		expect(verdict(PRINTED, outside)).toMatch(says);
	});

	it("it is root's own, with no user of its own", () => {
		const { own_uid: _own, ...record } = RECORD;
		expect(() => judge(record, parseInsideFacts(PRINTED), { ...OUTSIDE, uid: 0 })).toThrow(/not as one of its own/);
	});

	it("and could not be probed, what is seen from outside is told all the same", () => {
		const error = notProbed(RECORD, "exit code 1: nsenter: no", { ...OUTSIDE, sharedNamespaces: ["ipc"] });
		expect(error).toMatchObject({
			code: "control",
			message:
				"Sandbox box could not be probed: exit code 1: nsenter: no; isolation: it shares the ipc namespace of this machine.",
			details: { sandbox_id: "box", failed: ["isolation"] },
		});
	});
});

describe("everything that does not hold", () => {
	it("is told at once, and the controls stand in the details", () => {
		const inside: InsideFacts = parseInsideFacts(PRINTED.replace("userns refused", "userns made"));
		expect(() => judge(RECORD, inside, { ...OUTSIDE, uid: 0, endsWithSupervisor: false })).toThrow(
			expect.objectContaining({
				message: expect.stringMatching(/isolation: .*; lease: .*; syscalls: /) as unknown,
				details: { sandbox_id: "box", failed: ["isolation", "lease", "syscalls"] },
			}) as Error,
		);
	});
});
