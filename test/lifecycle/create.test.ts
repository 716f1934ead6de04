import type { Handle, Ready } from "../../provider/contract";
import { type Backend, create, NotReady, type SandboxInputs } from "../../provider/lifecycle";
import { NowhereExtension } from "./a-sandbox";

describe("a create whose engine goes away before it can record the sandbox", () => {
	/** Is there at once, and no longer wanted by then. */
	class ReadyTooLate extends NowhereExtension {
		readonly engine = new AbortController();
		remains: string[] = [];
		readonly tornDown: Handle[] = [];

		override provision() {
			return Promise.resolve({ handle: { sandbox_id: "box" } as Handle, adopted: false });
		}

		override waitReady() {
			this.engine.abort();
			return Promise.resolve({} as Ready);
		}

		override teardown(handle: Handle) {
			this.tornDown.push(handle);
			return Promise.resolve({ found: [], removed: [], remains: this.remains });
		}
	}

	let extension: ReadyTooLate;
	beforeEach(() => {
		extension = new ReadyTooLate();
	});

	const failureOf = async (): Promise<unknown> => {
		const backend: Backend = {
			extension,
			signal: extension.engine.signal,
			now: () => 0,
			progress: () => undefined,
			info: () => undefined,
			warn: () => undefined,
		};
		const inputs = {
			extension: "ext.nowhere",
			sandboxId: "box",
			profile: { ttl: { default: "1h", max: "4h" } },
			resources: {},
			timeouts: {},
			labels: {},
			ttl: "1h",
		} as unknown as SandboxInputs;
		return create(backend, inputs).then(
			() => undefined,
			(thrown: unknown) => thrown,
		);
	};

	it("removes it again, and says so", async () => {
		expect(await failureOf()).toMatchObject({
			code: "aborted",
			message: "The engine went away before it could record sandbox box: it does not stay.",
		});
		expect(extension.tornDown).toEqual([{ sandbox_id: "box", extension: "ext.nowhere" }]);
	});

	it("names what could not be removed, after the first error, and keeps the handle", async () => {
		extension.remains = ["/srv/box"];
		const failure = await failureOf();
		expect(failure).toBeInstanceOf(NotReady);
		const { outputs, cause } = failure as NotReady;
		expect(outputs).toMatchObject({ phase: "waiting", handle: { sandbox_id: "box" } });
		expect(cause.message).toBe("The engine went away before it could record sandbox box: it does not stay.");
		expect(cause.hint).toContain("still there: /srv/box");
	});
});
