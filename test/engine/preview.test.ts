import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inventory } from "./support/inventory";
import { processesOf, until } from "./support/processes";
import { TestStack } from "./support/test-stack";

const ID = `preview-${process.pid}`;
const BOX = `const box = new Sandbox("box", { profile: "bwrap-local", ttl: "2h", sandboxId: "${ID}" });
exports.box = { id: box.sandboxId, phase: box.phase, route: box.route, quote: box.quote, workspaceDir: box.workspaceDir };`;

describe("preview", () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = await new TestStack(BOX).init();
	});

	afterEach(() => stack.dispose());

	const seen = () => inventory(stack.folder, ID, [...stack.ofPulumi, join(stack.folder, "index.js")]);

	it("touches nothing, of a new stack and of one that runs", async () => {
		const empty = seen();
		await stack.ok(["preview"]);
		expect(seen()).toEqual(empty);
		await stack.up();
		const box = join(stack.sandboxes, "bwrap", ID);
		const text = (file: string) => readFileSync(join(box, file), "utf8");
		// The lease counts from ready. The supervisor reads that at its next look, and then says so in a file.
		await until("the supervisor has read the lease", () => text("verdict") === `obeys ${text("control/deadline")}`);
		const running = seen();
		expect(running).not.toEqual(empty);
		stack.program(BOX.replace("2h", "3h"));
		await stack.ok(["preview"]);
		stack.program(BOX.replace('"bwrap-local"', '"agent-dev"'));
		await stack.ok(["preview"]);
		expect(seen()).toEqual(running);
		await stack.destroy();
	});

	it("names extension, cost and controls on the resource's row, and needs no bwrap, no credentials and no network", async () => {
		const previewed = await stack.ok(["preview"], { PATH: pathWithout(stack, "bwrap") });
		expect(previewed.text).toMatch(/ext\.bwrap.*self-hosted.*0 USD.*lease 2h.*network enforced/);
	});

	it.each([
		["a profile that there is not", 'profile: "bwrap-locl"', /Sandbox "box": .*"bwrap-locl".*profile\.bwrap-local/s],
		["a bad ttl", 'profile: "bwrap-local", ttl: "30"', /ttl .*"30".*"4h"/],
		["an input that there is not", 'profile: "bwrap-local", inputs: { rep: "./x" }', /inputs\.rep .*repo/],
		[
			"more memory than the profile's",
			'profile: "bwrap-local", resources: { memoryMb: 99999 }',
			/resources\.memoryMb is 99999 MiB, above the profile's 2048 MiB/,
		],
		[
			"a network that the profile denies",
			'profile: "bwrap-local", network: { default: "allow" }',
			/network\.default is "allow", but the profile says "deny"/,
		],
		[
			"an egress list on bwrap",
			'profile: "agent-dev", network: { egress: ["192.0.2.0/24"] }',
			/network\.egress .*ext\.bwrap cannot enforce/,
		],
		[
			"a level the extension lacks",
			'profile: { extension: "ext.bwrap", isolation: { level: "vm" } }',
			/isolation\.level.*vm.*ext\.bwrap/s,
		],
	])("fails for %s, with the field and the way out", async (_what, args, said) => {
		stack.program(`new Sandbox("box", { ${args} });`);
		const previewed = await stack.run(["preview"]);
		expect(previewed.code).not.toBe(0);
		expect(previewed.text).toMatch(said);
		expect(previewed.text).not.toMatch(/at .*\.js:\d+/);
		expect(processesOf(stack.folder)).toEqual([]);
	});

	it("fails for a profile file with file, line and key", async () => {
		stack.write(
			"profile.mine.yaml",
			'id: profile.mine\nversion: "1"\nextension: ext.bwrap\nisolation: { level: process }\nnetwrok: { default: deny }\n',
		);
		stack.program('new Sandbox("box", { profile: "./profile.mine.yaml" });');
		const previewed = await stack.run(["preview"]);
		expect(previewed.code).not.toBe(0);
		expect(previewed.text).toMatch(/profile\.mine\.yaml:5: netwrok.*network/s);
	});
});

/** The PATH without the folders that hold a program, but with the ones that the engine needs. */
function pathWithout(stack: TestStack, program: string): string {
	const folder = join(stack.folder, "bin");
	const { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync } = require("node:fs") as typeof import("node:fs");
	// A link that leads nowhere is there too.
	const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
	mkdirSync(folder, { recursive: true });
	for (const part of (stack.env["PATH"] ?? "").split(":").filter((each) => existsSync(each))) {
		for (const name of readdirSync(part)) {
			if (name !== program && !isThere(join(folder, name))) symlinkSync(join(part, name), join(folder, name));
		}
	}
	return folder;
}
