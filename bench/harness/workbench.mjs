import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { killProcessesOf } from "./processes.mjs";
import { progress } from "./report.mjs";

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/**
 * The folder of one run, with the package installed in it as a user has it: a copy, so that a build that goes
 * on meanwhile changes nothing. Whatever the run starts works in this folder, names it in its command line or
 * is registered here; closing ends and removes it all, on failure and on Ctrl-C too.
 */
export class Workbench {
	#clean = [];
	#closing;
	isInterrupted = false;

	static open() {
		const workbench = new Workbench(realpathSync(mkdtempSync(join(tmpdir(), "sandboxer-bench-"))));
		for (const [signal, number] of Object.entries(SIGNALS)) {
			process.on(signal, () => {
				if (workbench.isInterrupted) return;
				workbench.isInterrupted = true;
				progress(`${signal}: ending and removing what was started`);
				workbench.close().then(
					() => process.exit(128 + number),
					(thrown) => {
						console.error(thrown);
						process.exit(1);
					},
				);
			});
		}
		return workbench;
	}

	/** @param {string} folder */
	constructor(folder) {
		this.folder = folder;
		// Sandboxes of root run under ids of their own: those must be able to pass through.
		chmodSync(folder, 0o711);
		const modules = join(folder, "node_modules");
		const copy = join(modules, "pulumi-sandboxer");
		mkdirSync(copy, { recursive: true });
		for (const name of ["package.json", "dist"]) cpSync(join(REPOSITORY, name), join(copy, name), { recursive: true });
		const { dependencies, peerDependencies } = createRequire(join(copy, "x.js"))("./package.json");
		for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
			mkdirSync(dirname(join(modules, name)), { recursive: true });
			symlinkSync(join(REPOSITORY, "node_modules", name), join(modules, name));
		}
		this.package = copy;
		/** Loads a module of the built package by its path in dist. */
		this.load = createRequire(join(copy, "dist", "x.js"));
	}

	get isClosing() {
		return this.#closing !== undefined;
	}

	/**
	 * A folder below the run's own.
	 *
	 * @param {string} name
	 */
	makeFolder(name) {
		const folder = join(this.folder, name);
		mkdirSync(folder, { recursive: true, mode: 0o711 });
		return folder;
	}

	/**
	 * What removes things that stand outside the folder, such as control groups; it runs once the processes that
	 * work in the folder are ended.
	 *
	 * @param {() => Promise<void>} clean
	 */
	onClose(clean) {
		this.#clean.push(clean);
	}

	close() {
		this.#closing ??= this.#close();
		return this.#closing;
	}

	async #close() {
		const failures = [];
		const steps = [
			() => killProcessesOf(this.folder, { named: false }),
			...this.#clean.toReversed(),
			() => killProcessesOf(this.folder, { named: true }),
			() => rmSync(this.folder, { recursive: true, force: true }),
		];
		for (const step of steps) {
			try {
				await step();
			} catch (thrown) {
				failures.push(thrown);
			}
		}
		if (failures.length > 0) throw new AggregateError(failures, `${this.folder} could not be cleaned up.`);
	}
}
