import { type Handle, type LeaseCall, type Ready, SandboxerError } from "../../provider/contract";
import { type Backend, read, type SandboxInputs, type SandboxOutputs, update } from "../../provider/lifecycle";
import { NowhereExtension } from "./a-sandbox";

const READY = Date.parse("2026-03-01T10:00:00Z");
const at = (hours: number) => new Date(READY + hours * 3_600_000).toISOString();

/** Grants what is asked for, up to the longest lease. */
class LeasingExtension extends NowhereExtension {
	readonly asked: { expiresAt: string | undefined; terms: LeaseCall["terms"] }[] = [];

	override extendLease(_handle: Handle, expiresAt: string | undefined, { terms }: LeaseCall): Promise<string> {
		this.asked.push({ expiresAt, terms });
		const longest = READY + (terms?.maxSeconds ?? 0) * 1000;
		return Promise.resolve(new Date(Math.min(Date.parse(expiresAt ?? at(3)), longest)).toISOString());
	}
}

describe("an update of a lease in place", () => {
	let extension: LeasingExtension;
	let said: string[];
	beforeEach(() => {
		extension = new LeasingExtension();
		said = [];
	});

	const backend = (): Backend => ({
		extension,
		signal: new AbortController().signal,
		now: () => READY,
		progress: () => undefined,
		info: (message) => said.push(message),
		warn: (message) => said.push(message),
	});
	const inputs = (ttl: string, terms: Record<string, string> = {}) =>
		({
			sandboxId: "box",
			ttl,
			profile: { ttl: { default: "1h", max: "4h", ...terms } },
			timeouts: {},
			labels: {},
		}) as unknown as SandboxInputs;
	const outputs = (given: SandboxInputs, lease: unknown = { readyAt: at(0), expiresAt: at(1) }) =>
		({ ...given, phase: "ready", handle: { sandbox_id: "box" }, lease }) as unknown as SandboxOutputs;

	it("asks for the new end, counted from when it was ready", async () => {
		const { lease } = await update(backend(), outputs(inputs("1h")), inputs("2h"));
		expect(extension.asked).toEqual([{ expiresAt: at(2), terms: { maxSeconds: 14_400 } }]);
		expect(lease).toEqual({ readyAt: at(0), expiresAt: at(2) });
		expect(said).toEqual([]);
	});

	it("tells where less was granted than asked for", async () => {
		extension.extendLease = () => Promise.resolve(at(1.5));
		const { lease } = await update(backend(), outputs(inputs("1h")), inputs("2h"));
		expect(lease?.expiresAt).toBe(at(1.5));
		expect(said).toEqual([`the lease ends at ${at(1.5)}, not at ${at(2)}: it was cut to the longest one`]);
	});

	it("leaves the end where only the profile's terms change, whatever was agreed on since, and proves the controls", async () => {
		const controls = { idle: { status: "enforced", note: "as seen" } } as const;
		extension.waitReady = () => Promise.resolve({ controls } as unknown as Ready) as never;
		const { lease, controls: proved } = await update(
			backend(),
			outputs(inputs("1h")),
			inputs("1h", { max: "8h", idle_reap: "10m" }),
		);
		expect(extension.asked).toEqual([{ expiresAt: undefined, terms: { maxSeconds: 28_800, idleSeconds: 600 } }]);
		expect(lease?.expiresAt).toBe(at(3));
		expect(proved).toBe(controls);
	});

	it("touches no lease where neither has changed", async () => {
		await update(backend(), outputs(inputs("1h")), inputs("60m"));
		expect(extension.asked).toEqual([]);
	});

	it("leaves a backend alone that keeps no terms", async () => {
		extension = new LeasingExtension(false);
		await update(backend(), outputs(inputs("1h")), inputs("1h", { max: "8h" }));
		expect(extension.asked).toEqual([]);
	});

	it.each([
		["without a zone", { readyAt: "2026-03-01T10:00:00", expiresAt: at(1) }],
		["that is none", { readyAt: "soon", expiresAt: at(1) }],
		["that is missing", {}],
	])("is refused by a state with a time %s", async (_what, lease) => {
		await expect(update(backend(), outputs(inputs("1h"), lease), inputs("2h"))).rejects.toMatchObject({
			code: "unknown",
		});
		expect(extension.asked).toEqual([]);
	});

	describe("and what is left of it, read", () => {
		const seen = async (details: Record<string, unknown>, expiresAt: string) => {
			extension.waitReady = () => {
				throw new SandboxerError({ code: "remains", message: "It does not run.", details });
			};
			const olds = outputs(inputs("1h"), { readyAt: at(0), expiresAt });
			return (await read(backend(), "box", olds))?.outputs.phase;
		};

		it.each([
			["its place says that the lease ended it", { expired: true }, at(1), "expired"],
			["its place says that something else did", { expired: false }, at(-1), "gone"],
			["its place says nothing, and its lease is over here", {}, at(-1), "expired"],
			["its place says nothing, and its lease is not over here", {}, at(1), "gone"],
			["its place says nothing, and its end names no zone", {}, "2020-03-01T10:00:00", "gone"],
		])("is judged where %s", async (_what, details, expiresAt, phase) => {
			expect(await seen(details, expiresAt)).toBe(phase);
		});
	});
});
