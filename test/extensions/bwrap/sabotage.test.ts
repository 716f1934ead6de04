import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxerError } from "../../../provider/errors";
import { profile, wish } from "./support/host";
import { Place } from "./support/place";
import { type Sabotage, sabotaged } from "./support/sabotage";
import { Staged } from "./support/staged";
import { USERS } from "./support/users";

/** What a sandbox that is not what it should be is refused with. */
interface Refusal {
	readonly code: "control" | "preflight";
	/** In the message: the control, or why it could not start. */
	readonly names: RegExp;
}

interface Row {
	readonly what: string;
	readonly sabotage: Sabotage;
	readonly refusal: Refusal;
	/** Where it can be done at all. */
	readonly only?: "root" | "an ordinary user";
	readonly access?: "ro" | "rw";
}

const control = (names: RegExp): Refusal => ({ code: "control", names });
const preflight = (names: RegExp): Refusal => ({ code: "preflight", names });

/** A filter of one instruction that allows everything. */
const ALLOW_ALL = Buffer.from([0x06, 0, 0, 0, 0, 0, 0xff, 0x7f]);
const FOREIGN = "export FOREIGN_VARIABLE=1";
const LEAVE = "for tasks in /sys/fs/cgroup/*/tasks /sys/fs/cgroup/cgroup.procs; do echo 0 >$tasks; done 2>/dev/null";

const bwrap = (find: readonly string[], put: readonly string[] = []): Sabotage => ({
	program: "bwrap",
	edits: [{ find, put }],
});
const nsenter = (find: readonly string[], put: readonly string[] = []): Sabotage => ({
	program: "nsenter",
	edits: [{ find, put }],
});
const sized = (point: string): [string[], string[]] => [
	["--size", "*", "--tmpfs", point],
	["--tmpfs", point],
];

const ROWS: readonly Row[] = [
	{
		what: "--die-with-parent",
		sabotage: bwrap(["--die-with-parent"]),
		refusal: control(/lease: .*outlive its supervisor/),
	},
	{ what: "its pid namespace", sabotage: bwrap(["--unshare-pid"]), refusal: control(/isolation: .*pid namespace/) },
	{ what: "its ipc namespace", sabotage: bwrap(["--unshare-ipc"]), refusal: control(/isolation: .*ipc namespace/) },
	{
		what: "its uts namespace",
		sabotage: { program: "bwrap", edits: [{ find: ["--unshare-uts"] }, { find: ["--hostname", "*"] }] },
		refusal: control(/isolation: .*uts namespace/),
	},
	{
		what: "its cgroup namespace",
		sabotage: bwrap(["--unshare-cgroup-try"]),
		refusal: control(/isolation: .*cgroup namespace/),
	},
	{ what: "its network namespace, under deny", sabotage: bwrap(["--unshare-net"]), refusal: control(/network: /) },
	{
		what: "a first process without capabilities",
		sabotage: bwrap(["--cap-drop", "ALL"], ["--cap-add", "ALL"]),
		refusal: control(/isolation: .*capabilities/),
	},
	{ what: "--new-session", sabotage: bwrap(["--new-session"]), refusal: control(/isolation: .*session/) },
	{ what: "--remount-ro /dev", sabotage: bwrap(["--remount-ro", "/dev"]), refusal: control(/filesystem: .*\/dev/) },
	{ what: "--remount-ro /", sabotage: bwrap(["--remount-ro", "/"]), refusal: control(/filesystem: .*\/\.sandboxer/) },
	{ what: "the size of /tmp", sabotage: bwrap(...sized("/tmp")), refusal: control(/memory: \/tmp/) },
	{ what: "the size of /dev/shm", sabotage: bwrap(...sized("/dev/shm")), refusal: control(/memory: \/dev\/shm/) },
	{ what: "the size of /run", sabotage: bwrap(...sized("/run")), refusal: control(/memory: \/run/) },
	{ what: "the size of the home", sabotage: bwrap(...sized("/home/sandbox")), refusal: control(/memory: \/home/) },
	{
		what: "a smaller size of /tmp",
		sabotage: bwrap(["--size", "*", "--tmpfs", "/tmp"], ["--size", "1073741824", "--tmpfs", "/tmp"]),
		refusal: control(/memory: \/tmp/),
	},
	{
		what: "a read-only /usr",
		sabotage: bwrap(["--ro-bind", "/usr", "/usr"], ["--bind", "/usr", "/usr"]),
		refusal: control(/filesystem: not read-only: \/usr/),
	},
	{
		what: "no other mounts",
		sabotage: bwrap(["--ro-bind", "/usr", "/usr"], ["--ro-bind", "/usr", "/usr", "--ro-bind", "/", "/host"]),
		refusal: control(/filesystem: foreign mounts: \/host/),
	},
	{
		what: "devices of its own",
		sabotage: bwrap(["--dev", "/dev"], ["--dev-bind", "/dev", "/dev"]),
		refusal: control(/could not be probed/),
	},
	{
		what: "no host homes",
		sabotage: bwrap(["--proc", "/proc"], ["--proc", "/proc", "--tmpfs", "/home", "--dir", "/home/somebody"]),
		refusal: control(/filesystem: foreign folders: \/home\/somebody/),
	},
	{
		what: "a read-only control folder",
		sabotage: {
			program: "bwrap",
			edits: [{ find: ["/run/secrets", "--ro-bind"], put: ["/run/secrets", "--bind"] }],
		},
		refusal: control(/filesystem: .*\/run\/sbx/),
	},
	{
		what: "a read-only workspace, under access ro",
		access: "ro",
		sabotage: bwrap(["--ro-bind", "*", "/workspace"], ["--bind", "*", "/workspace"]),
		refusal: control(/filesystem: \/workspace is not ro/),
	},
	{
		what: "a writable workspace, under access rw",
		sabotage: bwrap(["--remount-ro", "/"], ["--remount-ro", "/workspace", "--remount-ro", "/"]),
		refusal: control(/filesystem: \/workspace is not rw/),
	},
	{
		what: "--clearenv",
		sabotage: { ...bwrap(["--clearenv"]), before: FOREIGN },
		refusal: control(/isolation: foreign variables .*FOREIGN_VARIABLE/),
	},
	{ what: "the seccomp filter", sabotage: bwrap(["--seccomp", "6"]), refusal: control(/syscalls: /) },
	{
		what: "the rules of the filter",
		sabotage: { program: "nsenter", before: 'exec 3<"$(dirname "$0")/allow-all"' },
		refusal: control(/syscalls: a user namespace/),
	},
	{ what: "/proc in the sandbox", sabotage: bwrap(["--proc", "/proc"]), refusal: control(/could not be probed/) },
	{
		what: "bwrap itself: one that confines nothing",
		sabotage: { program: "bwrap", before: 'while [ "$1" != --info-fd ]; do shift; done; shift 2; exec "$@"' },
		refusal: preflight(/could not be started with bwrap/),
	},

	{
		what: "a command's own pid namespace",
		sabotage: nsenter(["--unshare-pid"]),
		refusal: control(/isolation: .*pid namespace of its own/),
	},
	{
		what: "a command's own /proc",
		sabotage: nsenter(["--proc", "/proc"]),
		refusal: control(/isolation: \/proc inside/),
	},
	{
		what: "a read-only /proc",
		sabotage: nsenter(["--remount-ro", "/proc"]),
		refusal: control(/filesystem: not read-only: \/proc/),
	},
	{
		what: "a command's --cap-drop",
		sabotage: nsenter(["--cap-drop", "ALL"]),
		refusal: control(/isolation: the capab/),
	},
	{
		what: "a command's --die-with-parent",
		sabotage: nsenter(["--die-with-parent"]),
		refusal: control(/lease: .*outlive whoever entered/),
	},
	{ what: "a command's --new-session", sabotage: nsenter(["--new-session"]), refusal: control(/isolation: .*session/) },
	{
		what: "a command's seccomp filter",
		sabotage: nsenter(["--seccomp", "3"]),
		refusal: control(/syscalls: no seccomp/),
	},
	{
		what: "a command's --clearenv",
		sabotage: { ...nsenter(["--clearenv"]), before: FOREIGN },
		refusal: control(/isolation: foreign variables .*FOREIGN_VARIABLE/),
	},
	{
		what: "the closing of descriptors",
		sabotage: nsenter(["--args", "*"]),
		refusal: control(/isolation: foreign descriptors .*37/),
	},
	{ what: "joining the ipc namespace", sabotage: nsenter(["-i"]), refusal: control(/isolation: .* ipc namespace/) },
	{ what: "joining the uts namespace", sabotage: nsenter(["-u"]), refusal: control(/isolation: .* uts namespace/) },
	{
		what: "joining the cgroup namespace",
		sabotage: nsenter(["-C"]),
		refusal: control(/isolation: .* cgroup namespace/),
	},
	{ what: "joining the network namespace", sabotage: nsenter(["-n"]), refusal: control(/network: /) },
	{ what: "joining the pid namespace", sabotage: nsenter(["-p"]), refusal: control(/could not be probed/) },
	{ what: "joining the mount namespace", sabotage: nsenter(["-m"]), refusal: control(/could not be probed/) },
	{ what: "joining the user namespace", sabotage: nsenter(["-U"]), refusal: control(/could not be probed/) },

	{
		what: "the core limit, 0 instead of 1",
		sabotage: { program: "prlimit", edits: [{ find: ["--core=1:1"], put: ["--core=0:0"] }] },
		refusal: control(/isolation: the core limit/),
	},
	{
		what: "the core limit of the first process only",
		sabotage: {
			program: "prlimit",
			before: 'case "$*" in *nsenter*) ;; *) shift; set -- --core=0:0 "$@" ;; esac',
		},
		refusal: control(/isolation: the core limit of its first process/),
	},
	{
		what: "the rlimit of processes",
		only: "an ordinary user",
		sabotage: { program: "prlimit", edits: [{ find: ["--nproc=2048:2048"] }] },
		refusal: control(/limits: Max processes/),
	},
	{
		what: "the rlimit of memory",
		only: "an ordinary user",
		sabotage: { program: "prlimit", edits: [{ find: ["--data=268435456:268435456"] }] },
		refusal: control(/limits: Max data size/),
	},
	{
		what: "its own user id",
		only: "root",
		sabotage: { program: "setpriv", edits: [{ find: ["--reuid", "*", "--regid", "*", "--clear-groups"] }] },
		// The workspace is its own user's.
		refusal: preflight(/\/workspace: Permission denied/),
	},
	{
		what: "its own user id, and the workspace with it",
		only: "root",
		sabotage: {
			program: "setpriv",
			before: 'chown 0 "$(dirname "$0")/../state/bwrap/box/workspace"',
			edits: [{ find: ["--reuid", "*", "--regid", "*", "--clear-groups"] }],
		},
		refusal: control(/isolation: it runs as uid 0/),
	},
	{
		what: "joining the control groups",
		only: "root",
		sabotage: { program: "prlimit", before: `case "$*" in *nsenter*) ;; *) ${LEAVE} ;; esac` },
		refusal: control(/limits: control groups: not in/),
	},
	{
		what: "joining the control groups, of a command",
		only: "root",
		sabotage: { program: "prlimit", before: `case "$*" in *nsenter*) ${LEAVE} ;; esac` },
		refusal: control(/limits: a command inside is outside the group/),
	},
];

const staged = new Staged();
afterAll(() => staged.remove());

describe.each(USERS)("as $name, a sandbox is refused that lacks", (user) => {
	let place: Place;
	beforeEach(() => {
		place = new Place(staged, user);
	});
	afterEach(async () => expect(await place.dispose()).toEqual([]));

	it.each(ROWS.filter(({ only }) => only === undefined || only === user.name))(
		"$what",
		async ({ sabotage, refusal, access = "rw" }) => {
			const path = sabotaged(place.folder, place.path, sabotage);
			const filter = join(place.folder, "sabotage", "allow-all");
			writeFileSync(filter, ALLOW_ALL);
			chmodSync(filter, 0o644);
			const provider = place.provider({ path });
			const wanted = wish({ profile: profile({ resources: { memory_mb: 256 }, workspace: { access } }) });
			const error = await refusalOf(async () => {
				const { handle } = await place.make(wanted, provider);
				await provider.do("waitReady", handle);
			});
			const message: unknown = expect.stringMatching(refusal.names);
			expect({ code: error.code, message: error.message }).toEqual({ code: refusal.code, message });
		},
	);

	it("nothing: the same without sabotage is handed out", async () => {
		const { handle } = await place.make({ profile: profile({ resources: { memory_mb: 256 } }) });
		const { controls } = await place.any.do("waitReady", handle);
		expect(controls["isolation"]?.status).toBe("enforced");
	});
});

async function refusalOf(work: () => Promise<void>): Promise<SandboxerError> {
	try {
		await work();
	} catch (thrown) {
		if (thrown instanceof SandboxerError) return thrown;
		throw thrown;
	}
	throw new Error("It was not refused.");
}
