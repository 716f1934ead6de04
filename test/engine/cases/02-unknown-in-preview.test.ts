import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { UNKNOWN } from "../../../provider/documents/unknown";
import { check } from "../../../provider/lifecycle";
import { findExtension, loadHandler, loadProfile, searchFrom } from "../../../provider/registry";
import { inventory } from "../support/inventory";
import { TestStack } from "../support/test-stack";

const CASE = resolve(__dirname, "../../cases/02-unknown-in-preview");
const EXTENSIONS = resolve(__dirname, "../../fixtures/extensions");

/** A resource whose outputs exist only after its create; its inputs have other names on purpose. */
const LATE = `
const provider = { async create(i) { return { id: "late", outs: { ...i, ttl: i.t, cpu: i.c, egress: i.e, ref: i.r, host: i.h } }; } };
class Late extends pulumi.dynamic.Resource {
	constructor(name, values) { super(provider, name, { ...values, ttl: undefined, cpu: undefined, egress: undefined, ref: undefined, host: undefined }); }
}
`;

function program({ ttl = "45m", cpu = "2", extra = "" } = {}): string {
	return `${LATE}
const late = new Late("late", { h: "build-1.example.com", t: "${ttl}", c: ${cpu}, e: ["192.0.2.0/24"], r: "main" });
const profile = { extension: "ext.compose-ssh", isolation: { level: "container" }, ttl: { default: "1h", max: "4h" }, network: { default: "deny", egress: ["192.0.2.0/24"] }, placement: { prefer: [late.host] } };
const box = new Sandbox("box", {
	profile, ttl: late.ttl, network: { default: "deny", egress: late.egress }, resources: { cpu: late.cpu },
	inputs: { repo: pulumi.interpolate\`./app-\${late.ref}\` }, ${extra}
});
exports.sandboxId = box.sandboxId;
`;
}

describe("case 02: first preview, values that do not exist yet", () => {
	let stack: TestStack;

	beforeEach(async () => {
		stack = new TestStack(program(), { config: { "sandboxer:extensionPath": EXTENSIONS } });
		stack.env = { ...stack.env, RECORDING: join(stack.folder, "recording") };
		await stack.init();
	});

	afterEach(() => stack.dispose());

	it("preview ends well and touches nothing; the run then uses the real values, and the marker is nowhere", async () => {
		const seen = () => inventory(stack.folder, "no-group-of-this-name", stack.ofPulumi);
		const before = seen();
		const previewed = await stack.ok(["preview"]);
		expect(seen()).toEqual(before);
		expect(existsSync(join(stack.folder, "recording"))).toBe(false);
		await stack.up();
		const recording = readFileSync(join(stack.folder, "recording"), "utf8");
		expect(recording).toContain('"repo":"./app-main"');
		expect(`${previewed.text}${recording}${(await stack.exported()).text}`).not.toContain(UNKNOWN);
	});

	it("a known bad field beside unknown ones is refused in preview, by name", async () => {
		stack.program(program({ extra: 'onExpired: "explode",' }));
		const previewed = await stack.run(["preview"]);
		expect(previewed.code).not.toBe(0);
		expect(previewed.text).toMatch(/onExpired .*"recreate".*"keep"/);
	});

	it("a value that turns out bad is refused in the run, by name, before anything is made", async () => {
		stack.program(program({ ttl: "30" }));
		await stack.ok(["preview"]);
		const up = await stack.run(["up", "--yes", "--skip-preview"]);
		expect(up.code).not.toBe(0);
		expect(up.text).toMatch(/ttl .*"30".*"4h"/);
		expect(existsSync(join(stack.folder, "recording"))).toBe(false);
	});

	it("a preview on top of a running one asks for no replacement only because of the marker", async () => {
		await stack.up();
		stack.program(program({ cpu: "2" }).replace('new Late("late"', 'new Late("later"'));
		const previewed = await stack.ok(["preview"]);
		expect(previewed.text).toMatch(/may be replaced: .*is known only during the run/);
		expect(previewed.text).not.toMatch(/ComposeSsh box (replace|delete)/);
	});

	it("check-inputs.json: the marker in every place passes check", () => {
		const search = searchFrom({ cwd: CASE, extensionPath: EXTENSIONS });
		const { profile } = loadProfile("./profile.unknowns.yaml", search);
		const declaration = findExtension("ext.compose-ssh", search);
		const extension = loadHandler(declaration, {
			declaration,
			config: {},
			environment: () => undefined,
			credentials: { route: () => undefined, value: () => undefined },
			now: () => 0,
		});
		const { news } = JSON.parse(readFileSync(join(CASE, "check-inputs.json"), "utf8")) as {
			news: Record<string, unknown>;
		};
		const { placement, ...args } = news;
		const owner = { scope: "s", project: "p", stack: "dev", urn: "urn:pulumi:dev::p::t::box" };
		const { problems } = check(
			extension,
			{},
			{
				...args,
				profile: { ...profile, network: { default: "deny", egress: UNKNOWN }, placement },
				extension: "ext.compose-ssh",
				owner,
			},
		);
		expect(problems).toEqual([]);
	});
});
