import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ProcessTable } from "../../provider/identity";
import { TestStack } from "../engine/support/test-stack";
import { BIN, type Ended, until } from "./support/desk";

/** Two sandboxes, neither of which the program exports a handle of; the state folder is known by the stack's settings alone. */
const PROGRAM = `
const profile = { extension: "ext.bwrap", isolation: { level: "process" }, ttl: { default: "30m", max: "4h" }, setup: { secretRefs: ["DB"] } };
const box = new Sandbox("Box", { profile, ttl: "1h" });
const other = new Sandbox("other", { profile });
exports.id = box.sandboxId;
`;

/** So many seconds sleep the commands of this run of the tests, and no others of this machine. */
const [FIRST, SECOND] = [`1${process.pid}.5`, `2${process.pid}.5`];

interface Exec {
	readonly exec: { readonly execId: string; readonly state: string };
}

describe("the command on sandboxes of ext.bwrap, in a stack of the real engine", () => {
	let stack: TestStack;
	let id: string;
	/** Without the stack's settings: where sandboxes are is not in the environment. */
	let bare: Record<string, string>;

	beforeAll(async () => {
		stack = new TestStack(PROGRAM);
		const { SANDBOXER_STATE_DIR: stateDir = "", ...env } = stack.env;
		bare = env;
		stack.env = bare;
		stack.write(
			"Pulumi.test.yaml",
			`config:\n  sandboxer:scope: test\n  sandboxer:bwrap:\n    state_dir: ${stateDir}\n`,
		);
		await stack.init();
		await stack.ok(["config", "set", "--secret", "--path", "sandboxer:secrets.DB", "canary-of-the-stack"]);
		await stack.up();
		({ id } = await stack.outputs<{ id: string }>());
	});

	afterAll(() => stack.dispose());

	function sandboxer(
		args: readonly string[],
		{ input = "", env = {} as Record<string, string>, cwd = stack.folder } = {},
	) {
		const child = spawn(process.execPath, [BIN, ...args], { cwd, env: { ...bare, ...env } });
		let [stdout, stderr] = ["", ""];
		child.stdout.on("data", (chunk) => {
			stdout += String(chunk);
		});
		child.stderr.on("data", (chunk) => {
			stderr += String(chunk);
		});
		child.stdin.on("error", () => undefined);
		child.stdin.end(input);
		const ended = new Promise<Ended>((done) => child.once("close", (code) => done({ code, stdout, stderr })));
		return Object.assign(ended, { child, printed: () => stdout });
	}

	const json = async <T = Record<string, unknown>>(
		args: readonly string[],
		options?: Parameters<typeof sandboxer>[1],
	) => JSON.parse((await sandboxer([...args.slice(0, 1), "--json", ...args.slice(1)], options)).stdout) as T;
	const box = (command: string, ...more: string[]) => [command, "--stack", "test", ...more];
	/** By the environment, as in another shell. */
	const here = {
		env: {
			get SANDBOXER_STATE_DIR() {
				return stack.sandboxes;
			},
		},
	};

	it("list --stack: those in its state", async () => {
		const { sandboxes } = await json<{ sandboxes: { sandboxId: string; state: string; urn: string }[] }>(box("list"));
		expect(sandboxes.map(({ state, urn }) => [urn.split("::").at(-1), state])).toEqual([
			["Box", "ready"],
			["other", "ready"],
		]);
		expect(sandboxes[0]?.sandboxId).toBe(id);
	});

	it("list without a stack: what is on this machine, where the environment says", async () => {
		expect((await sandboxer(["list", "-x", "bwrap"], here)).stdout).toMatch(
			new RegExp(`^${id} +ext\\.bwrap +ready `, "m"),
		);
	});

	it("list: a damaged record is told of, hides no other, and is the exit status", async () => {
		const damaged = join(stack.sandboxes, "bwrap", "damaged");
		mkdirSync(damaged);
		try {
			writeFileSync(join(damaged, "record.json"), "{");
			const { code, stdout, stderr } = await sandboxer(["list", "-x", "bwrap"], here);
			expect([code, stdout]).toEqual([4, expect.stringMatching(new RegExp(`^${id} +ext\\.bwrap +ready `, "m"))]);
			expect(stderr).toContain(`${damaged}/record.json is damaged`);
		} finally {
			rmSync(damaged, { recursive: true });
		}
	});

	it("from elsewhere, with -C", async () => {
		const { code, stdout } = await sandboxer(["show", "-C", stack.folder, "-s", "test", "Box"], { cwd: "/" });
		expect([code, stdout]).toEqual([0, expect.stringMatching(/^ {2}network +enforced/m)]);
	});

	it("a stack with several sandboxes and no name: refused, naming them", async () => {
		const { code, stderr } = await sandboxer(box("show"));
		expect([code, stderr]).toEqual([
			1,
			expect.stringMatching(/Stack test has several sandboxes: box-\w+ \(.*\), other-\w+ \(/),
		]);
	});

	it("a stack or a project that is not there: what pulumi says, and the way out", async () => {
		const { code, stderr } = await sandboxer(["list", "--stack", "nothing"]);
		expect([code, stderr]).toEqual([
			1,
			expect.stringMatching(/of stack nothing ended with \d+: .*no stack named 'nothing'.*\nhint: .*-C/s),
		]);
	});

	it("no pulumi on PATH: said, and the way without", async () => {
		const { code, stderr } = await sandboxer(box("list"), { env: { PATH: "/usr/bin:/bin" } });
		expect([code, stderr]).toEqual([1, expect.stringContaining("pulumi was not found on PATH")]);
	});

	it("by outputs on standard input, once the program exports the handle", async () => {
		const handle = (await json<{ sandbox: { handle: object } }>(box("show", "Box"))).sandbox.handle;
		const input = JSON.stringify({ id, box: { handle } });
		expect((await sandboxer(["exec", "-", "--", "pwd"], { ...here, input })).stdout).toBe("/workspace\n");
	});

	it("exec: inside, as its user, with both outputs, the exit status and standard input", async () => {
		expect(await sandboxer(box("exec", "Box", "--", "sh", "-c", "pwd; id -u; echo err >&2; exit 7"))).toEqual({
			code: 7,
			stdout: "/workspace\n1000\n",
			stderr: "err\n",
		});
		const input = "x".repeat(1_000_000);
		expect((await sandboxer(box("exec", "Box", "--", "wc", "-c"), { input })).stdout.trim()).toBe("1000000");
		expect((await sandboxer(box("exec", "-u", "root", "Box", "--", "id", "-u"))).stdout).toBe("0\n");
	});

	it.each([
		["signal by itself", ["--", "sh", "-c", "kill -TERM $$"], 143],
		["the time limit", ["--timeout", "1s", "--", "sleep", "60"], 124],
		["no such program", ["--", "no-such-program"], 127],
		["not to be run", ["--", "/etc/passwd"], 126],
		["a folder outside", ["--cwd", "/etc", "--", "true"], 125],
	])("exec: %s → %j → %d", async (_what, args, code) => {
		const at = args.indexOf("--");
		expect((await sandboxer([...box("exec"), ...args.slice(0, at), "Box", ...args.slice(at)])).code).toBe(code);
	});

	it("exec: a credential out of the stack's secret settings", async () => {
		const { code, stdout } = await sandboxer(
			box("exec", "--credential", "DB", "Box", "--", "sh", "-c", 'printf %s "$DB" | wc -c'),
		);
		expect([code, stdout.trim()]).toEqual([0, String("canary-of-the-stack".length)]);
	});

	it("exec: Ctrl-C ends it there: 130", async () => {
		const run = sandboxer(box("exec", "Box", "--", "sh", "-c", `trap '' INT TERM; echo begun; sleep ${FIRST}`));
		await until("it runs", () => run.printed().includes("begun"));
		run.child.kill("SIGINT");
		expect((await run).code).toBe(130);
		await until("the command has ended", () => sleeping(FIRST).length === 0);
	});

	it("exec --detach: goes on, can be followed, and ends with its keeper", async () => {
		const { exec } = await json<Exec>(box("exec", "-d", "Box", "--", "sh", "-c", `echo begun; sleep ${SECOND}`), here);
		await until("it runs", () => sleeping(SECOND).length > 0);
		const folder = (await json<{ execs: { folder: string }[] }>(["exec", "--list"], here)).execs[0]?.folder ?? "";
		expect(folder).toContain(exec.execId);
		const { keeper } = JSON.parse(readFileSync(join(folder, "start.json"), "utf8"));
		expect(new ProcessTable().signal(keeper, "SIGKILL")).toBe(true);
		await until("the command is gone with it", () => sleeping(SECOND).length === 0);
		const attached = await sandboxer(["exec", "--attach", exec.execId], here);
		expect(attached).toMatchObject({ code: 125, stdout: "begun\n" });
	});

	it("exec --detach, --attach, --stop", async () => {
		const { exec } = await json<Exec>(["exec", "-d", id, "--", "sh", "-c", `seq 3; sleep ${SECOND}`], here);
		const following = sandboxer(["exec", "--attach", exec.execId, "--from", "2"], here);
		await until("it is followed", () => following.printed().includes("3\n"));
		expect((await sandboxer(["exec", "--stop", exec.execId], here)).code).toBe(0);
		expect(await following).toMatchObject({ code: 143, stdout: "2\n3\n" });
		await until("the command has ended", () => sleeping(SECOND).length === 0);
	});

	it("extend: the record has the new end, and the program sees no change", async () => {
		const { expiresAt } = await json<{ expiresAt: string }>(box("extend", "Box", "2h"));
		expect(stack.record(id).expires_at).toBe(expiresAt);
		expect((await stack.up()).text).toMatch(/unchanged/);
	});

	it("expire: lists what is over, and --apply removes it", async () => {
		stack.program(`${PROGRAM}\nexports.brief = new Sandbox("brief", { profile, ttl: "8s" }).sandboxId;`);
		await stack.up();
		const { brief } = await stack.outputs<{ brief: string }>();
		const overdue = async (...args: string[]) =>
			(await json<{ overdue: { sandboxId: string; outcome: string }[] }>(["expire", "-x", "bwrap", ...args], here))
				.overdue;
		const deadline = performance.now() + 30_000;
		while ((await overdue()).length === 0 && performance.now() < deadline);
		expect(await overdue()).toMatchObject([{ sandboxId: brief, outcome: "overdue" }]);
		expect(stack.sandboxFolders()).toContain(brief);
		expect(await overdue("--apply")).toMatchObject([{ sandboxId: brief, outcome: "removed" }]);
		expect(stack.sandboxFolders()).not.toContain(brief);
		expect((await sandboxer(["expire", "-x", "bwrap", "--apply"], here)).stdout).toBe("Nothing is overdue.\n");
	});

	it("inventory finds what was left behind, and reap removes it", async () => {
		expect((await sandboxer(["inventory", "-x", "bwrap"], here)).stdout).toBe("Nothing was left behind.\n");
		mkdirSync(join(stack.sandboxes, "bwrap", "left-behind"));
		const { findings } = await json<{ findings: object[] }>(["inventory", "-x", "bwrap"], here);
		expect(findings).toMatchObject([{ kind: "orphan_dir", sandboxId: "left-behind", action: "reap" }]);
		expect((await sandboxer(["reap", "-x", "bwrap"], here)).code).toBe(0);
		expect(stack.sandboxFolders()).toContain("left-behind");
		expect((await sandboxer(["reap", "-x", "bwrap", "--apply"], here)).code).toBe(0);
		expect(stack.sandboxFolders()).not.toContain("left-behind");
	});

	it("snapshot, restore, remove: a new sandbox of the command line with the same files, and nothing of it left", async () => {
		await sandboxer(box("exec", "Box", "--", "sh", "-c", "echo kept >kept; chmod 700 kept"));
		const { snapshot } = await json<{ snapshot: { snapshot_id: string } }>(box("snapshot", "Box", "--keep", "1h"));
		const { snapshots } = await json<{ snapshots: object[] }>(["snapshots", "-x", "bwrap", id], here);
		expect(snapshots).toEqual([snapshot]);
		const restoring = [
			"restore",
			"-x",
			"bwrap",
			snapshot.snapshot_id,
			"-p",
			"bwrap-local",
			"--name",
			"again",
			"--ttl",
			"10m",
		];
		expect(await json(restoring, here)).toMatchObject({ sandboxId: "again", owner: { scope: "cli" } });
		const inside = ["exec", "-x", "bwrap", "again", "--", "sh", "-c", "cat kept; stat -c %a kept"];
		expect((await sandboxer(inside, here)).stdout).toBe("kept\n700\n");
		expect((await sandboxer(restoring, here)).code).toBe(1);
		expect((await sandboxer(["remove", "-x", "bwrap", "again"], here)).code).toBe(0);
		expect(stack.sandboxFolders()).not.toContain("again");
		expect((await sandboxer(["snapshots", "-x", "bwrap", "--remove", snapshot.snapshot_id], here)).code).toBe(0);
		expect((await sandboxer(["snapshots", "-x", "bwrap"], here)).stdout).toBe("No snapshots.\n");
	});

	it("remove leaves it alone: it is the stack's", async () => {
		expect(await sandboxer(box("remove", "Box"))).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("It was not touched."),
		});
		expect(stack.sandboxFolders()).toContain(id);
	});

	it("after destroy there is nothing", async () => {
		await stack.destroy();
		expect((await sandboxer(box("list"))).stdout).toBe("No sandboxes.\n");
		expect((await sandboxer(["show", id], here)).code).toBe(3);
	});

	/** Processes of this machine that run `sleep` for so long. */
	function sleeping(seconds: string): string[] {
		return readdirSync("/proc").filter((pid) => {
			try {
				return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${seconds}\0`;
			} catch {
				return false;
			}
		});
	}
});
