import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openSandbox } from "../../provider/client";
import { TestStack } from "./support/test-stack";

const SECRET = "canary-of-the-credential";

const box = (ttl = "20m") => `
const box = new Sandbox("box", {
	profile: { extension: "ext.bwrap", isolation: { level: "process" }, setup: { secretRefs: ["DB", { ref: "KEY", file: "deploy_key" }] } },
	ttl: "${ttl}",
});
exports.handle = box.handle;
`;

interface RunOptions {
	readonly command?: string;
	readonly more?: string;
}

const run = ({ command = "echo run >>runs; echo hello; echo trouble >&2", more = "" }: RunOptions = {}) => `
const run = box.execution("run", { command: ["sh", "-c", ${JSON.stringify(command)}], ${more} });
exports.run = { exitCode: run.exitCode, stdout: run.stdout, stderr: run.stderr, output: run.output };
`;

interface Outputs {
	readonly handle: { readonly sandbox_id: string; readonly remote_dir: string };
	readonly run: RunOutputs;
}

interface RunOutputs {
	readonly exitCode: number;
	readonly stdout: string;
	readonly stderr: string;
	readonly output: Record<"stdout" | "stderr", { file: string; sha256: string; bytes: number; truncated: boolean }>;
}

describe("an execution", () => {
	let stack: TestStack;
	const runs = async () => {
		const { handle } = await stack.outputs<Outputs>();
		const file = join(handle.remote_dir, "workspace", "runs");
		return readFileSync(file, "utf8").split("\n").length - 1;
	};
	const outputs = async () => (await stack.outputs<Outputs>()).run;

	beforeAll(async () => {
		stack = await new TestStack(box() + run(), {
			env: { SANDBOXER_SECRET_DB: SECRET, SANDBOXER_SECRET_KEY: SECRET },
		}).init();
		await stack.up();
	});
	afterAll(() => stack.dispose());

	it("runs once, when it is made: exit code, last lines and the whole output in a file", async () => {
		const { exitCode, stdout, stderr, output } = await outputs();
		expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "hello\n", stderr: "trouble\n" });
		expect(readFileSync(output.stdout.file, "utf8")).toBe("hello\n");
		expect(output.stdout).toMatchObject({
			bytes: 6,
			truncated: false,
			sha256: createHash("sha256").update("hello\n").digest("hex"),
		});
		await stack.up();
		await stack.ok(["refresh", "--yes", "--skip-preview"]);
		await stack.up();
		expect(await runs()).toBe(1);
	});

	it("runs again when a trigger changes, and not for what is only written down", async () => {
		stack.program(box() + run({ more: 'triggers: ["a"]' }));
		await stack.up();
		expect(await runs()).toBe(2);
		stack.program(box("21m") + run({ more: 'triggers: ["a"], timeout: "2m"' }));
		await stack.up();
		expect(await runs()).toBe(2);
	});

	it("fails with the last lines and the place of the rest; the next up runs it again", async () => {
		stack.program(box() + run({ command: "echo run >>runs; echo the reason >&2; exit 3" }));
		const { code, text } = await stack.run(["up", "--yes", "--skip-preview"]);
		expect(code).not.toBe(0);
		expect(text).toMatch(
			/The command "sh -c echo run.*" in sandbox \S+ ended with exit code 3; it wrote last:\s+the reason/,
		);
		const folder = /All that it wrote is in (\S+)\./.exec(text)?.[1] ?? "";
		expect(readFileSync(join(folder, "stderr"), "utf8")).toBe("the reason\n");
		expect(await runs()).toBe(3);
		stack.program(box() + run({ command: "echo run >>runs; exit 3", more: "mayFail: true" }));
		await stack.up();
		expect((await outputs()).exitCode).toBe(3);
		expect(await runs()).toBe(4);
	});

	it("says in the terminal what could not be started", async () => {
		stack.program(`${box()}box.execution("none", { command: ["no-such-program"] });`);
		const { code, text } = await stack.run(["up", "--yes", "--skip-preview"]);
		expect(code).not.toBe(0);
		expect(text).toMatch(/The command "no-such-program" could not be started in sandbox \S+: it is not there/);
	});

	it("has credentials by reference, and none of their values in state, output files or terminal", async () => {
		const command = 'echo "$DB"; cat /run/secrets/deploy_key; printf %s "$DB" | wc -c; echo "$DB" >&2';
		stack.program(box() + run({ command, more: 'credentials: ["DB", "KEY"]' }));
		const { text } = await stack.up();
		const { stdout, stderr, output } = await outputs();
		expect(stdout).toBe(`[credential]\n[credential]${SECRET.length}\n`);
		expect(stderr).toBe("[credential]\n");
		const state = await stack.ok(["stack", "export", "--show-secrets"]);
		for (const place of [text, state.stdout, readFileSync(output.stdout.file, "utf8")])
			expect(place).not.toContain(SECRET);
		stack.program(box() + run({ command, more: 'credentials: ["NOPE"]' }));
		const refused = await stack.run(["up", "--yes", "--skip-preview"]);
		expect(refused.text).toMatch(
			/Credential "NOPE" is not known to sandbox \S+: its profile's setup.secret_refs declare DB, KEY/,
		);
	});

	it("keeps a long log out of the state: its end is there, its digest, and the file", async () => {
		const command = "yes 'a line of a build log' | head -c 50000000; echo the last line";
		stack.program(box() + run({ command }));
		await stack.up();
		const { stdout, output } = await outputs();
		expect(output.stdout).toMatchObject({ bytes: 50_000_014, truncated: false });
		expect(stdout).toMatch(/the last line\n$/);
		expect(stdout.length).toBeLessThanOrEqual(4096);
		const { stdout: state } = await stack.ok(["stack", "export"]);
		expect(state.length).toBeLessThan(64_000);
	});

	it("runs again in the next life of its sandbox", async () => {
		stack.program(box().replace("ttl:", "resources: { memoryMb: 512 }, ttl:") + run());
		await stack.up();
		expect(await runs()).toBe(1);
	});

	it("is refused in the sandbox of another stack, which its library may use all the same", async () => {
		const { handle } = await stack.outputs<Outputs>();
		const other = await new TestStack(
			`new sandboxer.Execution("run", { sandbox: { extension: "ext.bwrap", handle: ${JSON.stringify(handle)} }, command: ["touch", "trace"] });`,
			{ name: "other", sharesSandboxesWith: stack },
		).init();
		try {
			const { code, text } = await other.run(["up", "--yes", "--skip-preview"]);
			expect(code).not.toBe(0);
			expect(text).toMatch(/Sandbox \S+ belongs to stack engine-test\/test, not to engine-test\/other\./);
			expect(existsSync(join(handle.remote_dir, "workspace", "trace"))).toBe(false);
		} finally {
			await other.dispose();
		}
		const opened = openSandbox(await stack.outputs(), {
			environment: { ...process.env, SANDBOXER_STATE_DIR: stack.sandboxes },
		});
		expect(await opened.execute(["cat", "runs"])).toMatchObject({ exitCode: 0, stdout: { text: "run\n" } });
	});

	it("leaves no output file behind", async () => {
		const { output } = await outputs();
		await stack.ok(["destroy", "--yes", "--skip-preview"]);
		expect(existsSync(dirname(output.stdout.file))).toBe(false);
		expect(readdirSync(join(stack.sandboxes, "executions"))).toEqual([]);
	});
});
