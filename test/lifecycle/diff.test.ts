import fc from "fast-check";
import { UNKNOWN } from "../../provider/documents/unknown";
import { check, diff, type SandboxInputs, type SandboxOutputs } from "../../provider/lifecycle";
import { asked, NowhereExtension } from "./a-sandbox";

const extension = new NowhereExtension();

function inputs(changes: Record<string, unknown> = {}, olds: Partial<SandboxInputs> = {}): SandboxInputs {
	return check(extension, olds, asked(changes)).inputs as unknown as SandboxInputs;
}

function outputs(changes: Record<string, unknown> = {}, phase = "ready"): SandboxOutputs {
	return {
		...inputs(changes),
		phase,
		stateVersion: 1,
		handle: { sandbox_id: "x", host: "local", generation: 1 },
	} as unknown as SandboxOutputs;
}

describe("diff", () => {
	it("sees no change in the same", () => {
		expect(diff(extension, outputs(), inputs())).toEqual({ changes: false, replaces: [], deleteBeforeReplace: true });
	});

	it.each([
		["network", { network: { default: "deny" } }],
		["resources", { resources: { memoryMb: 128 } }],
		["inputs", { inputs: { repo: "./b" } }],
		["sandboxId", { sandboxId: "other" }],
	])("replaces for another %s, the old one first", (key, changes) => {
		expect(diff(extension, outputs(), inputs(changes))).toMatchObject({
			changes: true,
			replaces: expect.arrayContaining([key]),
			deleteBeforeReplace: true,
		});
	});

	it("replaces for what the profile says of isolation, not for its version", () => {
		const profile = asked()["profile"] as Record<string, unknown>;
		expect(
			diff(extension, outputs(), inputs({ profile: { ...profile, workspace: { access: "ro" } } })).replaces,
		).toContain("profile");
		expect(diff(extension, outputs(), inputs({ profile: { ...profile, version: "2" } }, inputs()))).toMatchObject({
			changes: true,
			replaces: [],
		});
	});

	it.each([
		["ttl", { ttl: "2h" }],
		["labels", { labels: { a: "b" } }],
		["consumer", { consumer: { actor: "agt", project: "p" } }],
		["timeouts", { timeouts: { create: "1m" } }],
		["owner", { owner: { ...(asked()["owner"] as object), urn: "urn:pulumi:dev::p::t::renamed" } }],
	])("changes %s in place", (_key, changes) => {
		expect(diff(extension, outputs(), inputs(changes, inputs()))).toMatchObject({ changes: true, replaces: [] });
	});

	it.each([["ttl"], ["*"]])("replaces for what the option replaceOnChanges names: %s", (path) => {
		const news = inputs({ ttl: "2h", replaceOnChanges: [path] }, inputs());
		expect(diff(extension, outputs({ replaceOnChanges: [path] }), news).replaces).toEqual(["ttl"]);
		expect(
			diff(extension, outputs({ replaceOnChanges: ["labels"] }), { ...news, replaceOnChanges: ["labels"] }).replaces,
		).toEqual([]);
	});

	it("takes 60m for 1h", () => {
		expect(diff(extension, outputs({ ttl: "1h" }), inputs({ ttl: "60m" })).changes).toBe(false);
	});

	it("replaces for another ttl where the extension cannot change one", () => {
		const fixed = new NowhereExtension(false);
		expect(diff(fixed, outputs(), inputs({ ttl: "2h" }, inputs())).replaces).toEqual(["ttl"]);
	});

	it.each([
		["waiting", "recreate", { changes: true, replaces: [] }],
		["gone", "recreate", { changes: true, replaces: ["phase"] }],
		["gone", "keep", { changes: true, replaces: ["phase"] }],
		["altered", "recreate", { changes: true, replaces: ["phase"] }],
		["expired", "recreate", { changes: true, replaces: ["phase"] }],
		["expired", "keep", { changes: false, replaces: [] }],
	])("a sandbox that is %s with onExpired %s", (phase, onExpired, expected) => {
		expect(diff(extension, outputs({ onExpired }, phase), inputs({ onExpired }))).toMatchObject(expected);
	});

	it("never replaces because of a value that is not known yet", () => {
		for (const changes of [
			{ inputs: { repo: UNKNOWN } },
			{ resources: { cpu: UNKNOWN } },
			{ network: UNKNOWN },
			{ sandboxId: UNKNOWN },
			{ ttl: UNKNOWN },
		]) {
			expect(diff(extension, outputs(), inputs(changes, inputs()))).toMatchObject({ changes: true, replaces: [] });
		}
	});

	it("is symmetric: what it calls a change one way it calls a change the other way", () => {
		const change = fc.record(
			{
				ttl: fc.constantFrom("1h", "60m", "2h"),
				sandboxId: fc.constantFrom("a", "b"),
				network: fc.constantFrom({ default: "deny" }, { default: "allow" }),
				resources: fc.constantFrom({ cpu: 1 }, { memoryMb: 64 }, {}),
				inputs: fc.constantFrom({}, { repo: "./a" }, { size: 2 }),
				labels: fc.constantFrom({}, { a: "b" }),
			},
			{ requiredKeys: [] },
		);
		fc.assert(
			fc.property(change, change, (a, b) => {
				const there = diff(extension, outputs(a), inputs(b));
				const back = diff(extension, outputs(b), inputs(a));
				expect(back.changes).toBe(there.changes);
				expect([...back.replaces].sort()).toEqual([...there.replaces].sort());
			}),
		);
	});
});
