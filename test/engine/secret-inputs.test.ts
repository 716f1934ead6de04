import { join } from "node:path";
import { stopping } from "./support/held-run";
import { TestStack } from "./support/test-stack";

const CANARY = "canary-of-a-secret-input";
const BOX = (label: string) => `
const box = new Sandbox("box", { profile: "bwrap-local", ttl: "10m", labels: { token: ${label} } });
`;
const SECRET = `pulumi.secret("${CANARY}")`;
const RUN = `new sandboxer.Execution("run", { sandbox: box, command: ["true"], env: { TOKEN: ${SECRET} } });`;

describe("an input that is secret", () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = await new TestStack(BOX(SECRET) + RUN).init();
	});

	afterEach(() => stack.dispose());

	const stored = async () => (await stack.exported()).text;

	it("stands in no state in clear: once made, after a refresh, once changed", async () => {
		await stack.up();
		expect(await stored()).not.toContain(CANARY);
		await stack.ok(["refresh", "--yes", "--expect-no-changes"]);
		expect(await stored()).not.toContain(CANARY);
		stack.program(BOX(`pulumi.secret("${CANARY}-2")`) + RUN);
		expect((await stack.up()).text).toMatch(/1 updated/);
		expect(await stored()).not.toContain(CANARY);
		expect((await stack.ok(["stack", "export", "--show-secrets"])).stdout).toContain(`${CANARY}-2`);
	});

	it("nor where the wait failed, and the sandbox is only half there", async () => {
		const file = join(stack.folder, "wait-probed");
		expect((await stack.run(["up", "--yes", "--skip-preview"], stopping("wait:probed", file, "throw"))).code).not.toBe(
			0,
		);
		expect((await stack.sandboxResources())[0]?.outputs?.phase).toBe("waiting");
		expect(await stored()).not.toContain(CANARY);
	});

	it("a plain one is not encrypted: nothing is, where no secret is given", async () => {
		stack.program(BOX('"plain"'));
		await stack.up();
		expect((await stack.sandboxResources())[0]?.outputs).toMatchObject({
			applied: expect.stringContaining('"labels":{"token":"plain"}') as string,
		});
		expect(await stored()).not.toContain("ciphertext");
	});
});
