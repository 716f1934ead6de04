import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { kill } from "../../support/kill";
import { profile } from "./support/host";
import { type Box, Place } from "./support/place";
import { CANARY_DESCRIPTOR, CANARY_VARIABLE } from "./support/provider-process";
import { Staged } from "./support/staged";
import { processesOf } from "./support/traces";
import { until } from "./support/until";
import { USERS } from "./support/users";

const NAMESPACES = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"];

const staged = new Staged();
afterAll(() => staged.remove());

describe.each(USERS)("a command in a sandbox of $name", (user) => {
	let place: Place;
	let box: Box;
	/** What a shell script inside printed; it is to end well. */
	const inside = async (script: string, ...args: string[]): Promise<string> => {
		const { exitCode, stdout, stderr } = await place.sh(box, script, ...args);
		expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
		return stdout.trim();
	};
	const lines = async (script: string) => (await inside(script)).split("\n").sort();
	const field = (text: string, name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(text)?.[1];

	beforeAll(async () => {
		process.env[CANARY_VARIABLE] = "from the parent";
		place = new Place(staged, user);
		box = await place.make({ profile: profile({ resources: { memory_mb: 256 } }) });
	});
	afterAll(async () => {
		delete process.env[CANARY_VARIABLE];
		expect(await place.dispose()).toEqual([]);
	});

	it("is root inside and on the machine an ordinary user of the sandbox's own", async () => {
		const own = user.name === "root" ? box.record.own_uid : (user.uid ?? process.getuid?.());
		expect(own).not.toBe(0);
		expect((await inside("cat /proc/self/uid_map")).split(/\s+/)).toEqual(["0", String(own), "1"]);
		const running = place.enter(box, ["sleep", "98765"], 120).catch(() => undefined);
		const find = () => place.traces().find(({ command }) => command === "sleep 98765");
		await until("the command runs", () => find() !== undefined);
		const status = readFileSync(`/proc/${find()?.pid}/status`, "utf8");
		expect(field(status, "Uid")?.split("\t")).toEqual(Array(4).fill(String(own)));
		expect(field(status, "Gid")?.split("\t")).toEqual(Array(4).fill(String(own)));
		expect(field(status, "Groups")?.trim()).toBe("");
		kill(find()?.pid);
		await running;
	});

	it("has a uid of its own in every sandbox of root", async () => {
		const other = await place.make({ sandboxId: "other" });
		expect(other.record.own_uid === box.record.own_uid).toBe(user.name !== "root");
		await place.any.do("teardown", other.handle);
	});

	it("has no capability, cannot get one, and is under a filter", async () => {
		const status = await inside("cat /proc/self/status");
		for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"]) expect(field(status, set)).toMatch(/^0+$/);
		expect(field(status, "NoNewPrivs")).toBe("1");
		expect(field(status, "Seccomp")).toBe("2");
	});

	it("is in namespaces of its own, and in other processes' none", async () => {
		const there = new Set((await inside("readlink /proc/self/ns/*")).split("\n"));
		const here = NAMESPACES.map((kind) => readlinkSync(`/proc/self/ns/${kind}`));
		expect(here.filter((namespace) => there.has(namespace))).toEqual([]);
		expect([...there].filter((namespace) => NAMESPACES.includes(namespace.split(":")[0] ?? ""))).toHaveLength(7);
	});

	it("sees its own processes only, not those of another command", async () => {
		const other = place.enter(box, ["sh", "-c", "SECRET=canary-1 sleep 87654"], 120).catch(() => undefined);
		const find = () => place.traces().find(({ command }) => command === "sleep 87654");
		await until("the other command runs", () => find() !== undefined);
		expect(await inside("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' '\\n' | sed 1q")).toBe("bwrap");
		expect(await inside('grep -alE "^canary|=canary" /proc/[0-9]*/environ || echo none')).toBe("none");
		expect(Number(await inside("ls -d /proc/[0-9]* | wc -l"))).toBeLessThan(6);
		kill(find()?.pid);
		await other;
	});

	it.each(["/", "/usr", "/etc", "/proc", "/dev", "/run/sbx", "/bin", "/lib"])("cannot write in %s", async (folder) => {
		const { exitCode, stderr } = await place.sh(box, 'touch "$1/.written"', folder);
		expect(exitCode).toBe(1);
		expect(stderr).toMatch(/Read-only file system|Permission denied|No such file/);
	});

	it("cannot write any setting of the kernel", async () => {
		const script =
			'find /proc/sys/kernel /proc/sys/vm /proc/sys/fs -type f | while read -r file; do echo tried; true >>"$file" && echo "$file"; done 2>/dev/null; true';
		const seen = await lines(script);
		expect(seen.filter((line) => line !== "tried")).toEqual([]);
		expect(seen.length).toBeGreaterThan(100);
	});

	it("leaves no core, neither as a file nor to a handler of the machine", async () => {
		const limits = await inside("cat /proc/self/limits");
		expect(limits).toMatch(/^Max core file size +1 +1 +bytes/m);
		await place.sh(box, "cd /workspace; sh -c 'kill -SEGV $$'");
		expect(readdirSync(box.workspace)).toEqual([]);
	});

	it("sees nothing of the caller's home, nor of other people's", async () => {
		expect(existsSync(`${place.home}/.ssh`)).toBe(true);
		expect(await inside("ls /home")).toBe("sandbox");
		expect(await inside("ls -A ~ | wc -l")).toBe("0");
		const looks = ["cat /etc/shadow", "ls ~/.ssh", "ls /root", `ls ${place.home}`, `ls ${place.folder}`, "ls /sys"];
		for (const look of looks) {
			const { exitCode, stdout, stderr } = await place.sh(box, look);
			expect({ look, failed: exitCode !== 0, stdout }).toEqual({ look, failed: true, stdout: "" });
			expect(stderr).toMatch(/No such file or directory/);
		}
	});

	it("has an environment of its own: nothing of the provider's, nor of the provider's parent's", async () => {
		expect(await lines("env | sed 's/=.*//'")).toEqual(["HOME", "LANG", "PATH", "PWD"]);
		expect(await inside(`grep -al ${CANARY_VARIABLE} /proc/[0-9]*/environ || echo none`)).toBe("none");
	});

	it("has three descriptors, whatever the provider inherited", async () => {
		// Of the listing itself.
		const listing = "3";
		expect(await lines("ls /proc/self/fd")).toEqual(["0", "1", "2", listing]);
		expect(existsSync(`/proc/${place.any.pid}/fd/${CANARY_DESCRIPTOR}`)).toBe(true);
	});

	it("has no terminal, though the provider has one", async () => {
		const provider = place.provider({
			launcher: (command) => ["script", "--quiet", "--return", "--command", command.join(" "), "/dev/null"],
		});
		const { directory } = box;
		const command = ["sh", "-c", "cat </dev/tty; cut -d' ' -f7 /proc/self/stat"];
		const { stdout, stderr } = await provider.do("enter", { directory, command, timeoutSeconds: 60 });
		expect(stdout.trim()).toBe("0");
		expect(stderr).toMatch(/cannot open \/dev\/tty: No such device or address/);
		const ofProviders = processesOf(staged.worker).map(({ pid }) => readFileSync(`/proc/${pid}/stat`, "utf8"));
		expect(ofProviders.filter((stat) => stat.split(") ").pop()?.split(" ")[4] !== "0")).not.toEqual([]);
	});

	it.each(["/tmp", "/dev/shm", "/home/sandbox"])("cannot put more into %s than its memory allows", async (folder) => {
		const script = 'head -c 300000000 /dev/zero >"$1/fill"; code=$?; stat -c %s "$1/fill"; rm "$1/fill"; exit $code';
		const { exitCode, stdout, stderr } = await place.sh(box, script, folder);
		expect(exitCode).toBe(1);
		expect(stderr).toMatch(/No space left on device/);
		expect(Number(stdout)).toBeLessThanOrEqual(256 * 1024 * 1024);
	});

	it.each([
		["a user namespace", "unshare -U true"],
		["a mount", "mount -t tmpfs none /tmp"],
		["another hostname", "hostname else"],
		["another root", "chroot /usr true"],
		["the machine's log", "dmesg"],
	])("cannot have %s", async (_what, script) => {
		const { exitCode, stderr } = await place.sh(box, script);
		expect(exitCode).not.toBe(0);
		expect(stderr).toMatch(/not permitted|denied|must be (root|superuser)/i);
	});

	it("works: a shell, files that may be run, pipes, and what programs look for in /etc", async () => {
		expect(await inside("cd /workspace; echo 'echo run' >a; chmod +x a; ./a | cat; rm a")).toBe("run");
		expect(await inside("id -un; getent passwd nobody | cut -d: -f3; hostname")).toBe("root\n65534\nbox");
		expect(await inside("getent hosts localhost | wc -l")).toBe("1");
		expect(await inside("echo x >/dev/null; head -c 4 /dev/urandom | wc -c; stat -c %a /tmp")).toBe("4\n1777");
	});
});
