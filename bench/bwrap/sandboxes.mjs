import { join } from "node:path";

/** How long a sandbox lives that a run which was killed left behind. */
export const TTL_SECONDS = 1800;

const TIMEOUT_SECONDS = 60;

/** The sandboxes of one state folder, made and removed by the built extension as the provider process does it. */
export class Sandboxes {
	/**
	 * @param {import("../harness/workbench.mjs").Workbench} workbench
	 * @param {string} name of the state folder
	 */
	constructor(workbench, name) {
		this.folder = workbench.makeFolder(name);
		const { loadHandler, loadProfile, searchFrom } = workbench.load("./provider/registry");
		const { profile, declaration } = loadProfile("bwrap-local", searchFrom({ cwd: workbench.folder }));
		this.profile = profile;
		this.extension = loadHandler(declaration, {
			declaration,
			config: { state_dir: this.folder },
			environment: (variable) => process.env[variable],
			credentials: { route: () => undefined, value: () => undefined },
			now: Date.now,
		});
		workbench.onClose(() => this.removeAll());
	}

	/** Makes a sandbox and waits until it is ready. */
	async create(sandboxId) {
		const { handle } = await this.extension.provision(this.profile, {}, "local", request(sandboxId, TIMEOUT_SECONDS));
		await this.extension.waitReady(handle, call());
		return handle;
	}

	/** Makes one out of a snapshot. */
	async restore(sandboxId, snapshot, timeoutSeconds) {
		const asked = request(sandboxId, timeoutSeconds);
		const { handle } = await this.extension.restoreFromSnapshot(this.profile, snapshot, {}, "local", asked);
		return handle;
	}

	async remove(handle) {
		const { remains } = await this.extension.teardown(handle, call());
		if (remains.length > 0) throw new Error(`Of sandbox ${handle.sandbox_id} there remain ${remains.join(", ")}.`);
	}

	async removeAll() {
		for (const { handle } of await this.extension.locate({}, call())) await this.remove(handle);
	}

	/** The folder of one sandbox. */
	directory(sandboxId) {
		return join(this.folder, "bwrap", sandboxId);
	}
}

function request(sandboxId, timeoutSeconds) {
	return {
		...call(),
		timeoutSeconds,
		sandboxId,
		owner: { scope: "bench", project: "bench", stack: "bench", urn: `urn:pulumi:bench::bench::bench::${sandboxId}` },
		digest: "bench",
		ttlSeconds: TTL_SECONDS,
		labels: {},
	};
}

function call() {
	return { signal: new AbortController().signal, timeoutSeconds: TIMEOUT_SECONDS, progress: () => undefined };
}
