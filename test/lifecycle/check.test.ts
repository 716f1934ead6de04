import fc from "fast-check";
import { UNKNOWN } from "../../provider/documents/unknown";
import { check } from "../../provider/lifecycle";
import { asked, NowhereExtension } from "./a-sandbox";

const extension = new NowhereExtension();

function inputsOf(changes: Record<string, unknown> = {}, olds: Record<string, unknown> = {}): Record<string, unknown> {
	const { inputs, problems } = check(extension, olds, asked(changes));
	expect(problems).toEqual([]);
	return inputs;
}

function fieldsOf(changes: Record<string, unknown>): string[] {
	return check(extension, {}, asked(changes)).problems.map(({ field }) => field);
}

describe("check", () => {
	it("fills in what the program leaves out", () => {
		expect(inputsOf()).toMatchObject({
			ttl: "1h",
			network: { default: "allow" },
			resources: { cpu: 2, memoryMb: 512 },
			inputs: { size: 1 },
			onExpired: "recreate",
			adopt: false,
			labels: {},
			phase: "ready",
			quote: { pricing: "self-hosted", perHourUsd: 0 },
			route: { chosen: "ext.nowhere" },
		});
	});

	it("gives its own result back unchanged: ignoreChanges feeds it old, checked inputs", () => {
		const once = inputsOf({
			ttl: "2h",
			resources: { memoryMb: 256 },
			network: { default: "deny" },
			labels: { a: "b" },
		});
		expect(check(extension, once, once)).toMatchObject({ inputs: once, problems: [] });
	});

	it("takes the profile's keys in either spelling", () => {
		const profile = { ...(asked()["profile"] as object), resources: { cpu: 2, memoryMb: 512 } };
		expect(inputsOf({ profile })).toEqual(inputsOf());
	});

	it("refuses an unknown argument by name, without its value", () => {
		const { problems } = check(extension, {}, asked({ inputs: { repo: "./x", sshKeyy: "canary-key-77aa" } }));
		expect(problems.map(({ field }) => field)).toEqual(["inputs.sshKeyy"]);
		expect(JSON.stringify(problems)).not.toContain("canary");
	});

	it.each([
		[
			"network wider than the profile's",
			{ profile: { ...(asked()["profile"] as object), network: { default: "deny" } }, network: { default: "allow" } },
			"network.default",
		],
		["more memory than the profile's", { resources: { memoryMb: 1024 } }, "resources.memoryMb"],
		["more cpu than the profile's", { resources: { cpu: 3 } }, "resources.cpu"],
		["a ttl without a unit", { ttl: "30" }, "ttl"],
		["a sandbox id that could be an option", { sandboxId: "-v" }, "sandboxId"],
		["adopt without an id", { adopt: true }, "adopt"],
		["an actor that there is not", { consumer: { actor: "root", project: "p" } }, "consumer.actor"],
	])("refuses %s", (_what, changes, field) => {
		expect(fieldsOf(changes)).toEqual([field]);
	});

	it("says that a lease is capped", () => {
		expect(check(extension, {}, asked({ ttl: "9h" })).notes).toEqual(["ttl 9h is capped at the profile's max 4h"]);
	});

	describe("the sandbox id", () => {
		it("is readable, valid, and the same for the same owner and settings", () => {
			const { sandboxId } = inputsOf();
			expect(sandboxId).toMatch(/^box-[0-9a-f]{12}$/);
			expect(inputsOf()["sandboxId"]).toBe(sandboxId);
		});

		it.each([
			["scope", { scope: "other" }],
			["stack", { stack: "prod" }],
			["urn", { urn: "urn:pulumi:dev::p::t::box" }],
		])("differs for another %s", (_what, owner) => {
			expect(inputsOf({ owner: { ...(asked()["owner"] as object), ...owner } })["sandboxId"]).not.toBe(
				inputsOf()["sandboxId"],
			);
		});

		it("is kept as long as nothing that replaces has changed, whoever owns it by now", () => {
			const olds = { ...inputsOf(), sandboxId: "box-kept" };
			const moved = { owner: { ...(asked()["owner"] as object), scope: "moved" } };
			expect(inputsOf({ ...moved, ttl: "2h", labels: { a: "b" } }, olds)["sandboxId"]).toBe("box-kept");
			expect(inputsOf({ ...moved, inputs: { repo: "./b" } }, olds)["sandboxId"]).not.toBe("box-kept");
		});

		it("is a valid one for every resource name", () => {
			fc.assert(
				fc.property(fc.string({ minLength: 1, maxLength: 200, unit: "grapheme" }), (name) => {
					const owner = { ...(asked()["owner"] as object), urn: `urn:pulumi:dev::p::t::${name}` };
					expect(inputsOf({ owner })["sandboxId"]).toMatch(/^[a-z0-9][a-z0-9_-]{0,62}$/);
				}),
			);
		});
	});

	describe("values that are not known yet", () => {
		const places: [string, Record<string, unknown>][] = [
			["ttl", { ttl: UNKNOWN }],
			["a number", { resources: { cpu: UNKNOWN } }],
			["a list as a whole", { network: { default: "deny", egress: UNKNOWN } }],
			["a member of a list", { network: { default: "deny", egress: [UNKNOWN] } }],
			["an object as a whole", { resources: UNKNOWN }],
			["all inputs", { inputs: UNKNOWN }],
			["one input", { inputs: { repo: UNKNOWN } }],
			["the sandbox id", { sandboxId: UNKNOWN }],
			["the consumer's project", { consumer: { actor: "agt", project: UNKNOWN } }],
			["labels", { labels: { a: UNKNOWN } }],
			["adopt", { adopt: UNKNOWN, sandboxId: "x" }],
			["part of the profile", { profile: { ...(asked()["profile"] as object), setup: { secret_refs: UNKNOWN } } }],
		];

		it.each(places)("%s: check ends well", (_what, changes) => {
			expect(check(extension, {}, asked(changes)).problems).toEqual([]);
		});

		it.each(places)("%s: what is known and bad beside it is still refused", (what, changes) => {
			const bad = what === "ttl" ? { onExpired: "explode" } : { ttl: "30" };
			expect(fieldsOf({ ...changes, ...bad })).toEqual(Object.keys(bad));
		});

		it("makes the id unknown where it is in what replaces, and says what may happen", () => {
			const { inputs, notes } = check(extension, inputsOf(), asked({ inputs: { repo: UNKNOWN } }));
			expect(inputs["sandboxId"]).toBe(UNKNOWN);
			expect(notes).toEqual(["may be replaced: `inputs` is known only during the run"]);
		});

		it("leaves the id known where it is in nothing that replaces", () => {
			expect(inputsOf({ ttl: UNKNOWN })["sandboxId"]).toBe(inputsOf()["sandboxId"]);
		});
	});
});
