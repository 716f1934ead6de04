import { execFileSync, spawnSync } from "node:child_process";
import {
	chmodSync,
	chownSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	rmdirSync,
	rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { ConformanceAdapter, HostileArchive } from "../../../provider/conformance";
import type { Handle, SnapshotMeta } from "../../../provider/contract";
import { CHECKPOINTS } from "../../../provider/contract/checkpoint";
import type { Staged } from "../../extensions/bwrap/support/staged";
import { survivors, traces } from "../../extensions/bwrap/support/traces";
import { until } from "../../extensions/bwrap/support/until";
import type { User } from "../../extensions/bwrap/support/users";
import { makeArchives, plantManifest } from "../../snapshots/support/plant";
import { kill } from "../../support/kill";

/** `ext.bwrap` as the kit sees it: a state folder of one user, and how to look at a sandbox from outside. */
export class BwrapUnderTest {
	readonly folder = mkdtempSync(join(tmpdir(), "conformance-bwrap-"));
	readonly #ids = new Set<string>();

	constructor(
		private readonly staged: Staged,
		private readonly user: User,
		/** Where the extension is; the staged one, or a variation of it. */
		private readonly files: Pick<Staged, "file"> = staged,
	) {
		chmodSync(this.folder, 0o711);
		for (const path of ["state", "home", "home/.ssh"].map((name) => join(this.folder, name))) {
			mkdirSync(path, { mode: 0o711 });
			if (user.uid !== undefined) chownSync(path, user.uid, user.uid);
		}
	}

	/** @param changes - Of a variation of it. */
	adapter(changes: Partial<ConformanceAdapter> = {}): ConformanceAdapter {
		const { staged, files, user, folder } = this;
		const id = String(user.uid);
		const become = user.uid === undefined ? [] : ["setpriv", "--reuid", id, "--regid", id, "--clear-groups"];
		return {
			name: `ext.bwrap as ${user.name}`,
			declaration: {
				id: "ext.bwrap",
				title: "bubblewrap",
				handler: "./handler:BwrapExtension",
				capabilities: { isolation_levels: ["process"], pricing_model: "self-hosted" },
			},
			handler: files.file("extensions/bwrap/handler.js"),
			config: { state_dir: join(folder, "state") },
			profile: { id: "profile.kit", version: "1", extension: "ext.bwrap", isolation: { level: "process" } },
			environment: { PATH: process.env["PATH"] ?? "", HOME: join(folder, "home") },
			launch: () => [...become, staged.node, files.file("provider/conformance/worker.js")],
			programs: ["python3"],
			checkpoints: CHECKPOINTS.filter((name) => name.startsWith("provision:")),
			incidental: ["boot_id", "pid", "start_ticks"],
			traces: (handle) => this.#traces(handle),
			crash: (handle) => this.#crash(handle),
			plant: (archive) => this.#plant(archive),
			...changes,
		};
	}

	/** Ends and removes what a wrong variation has left. */
	async sweep(): Promise<void> {
		const made = join(this.folder, "state/bwrap");
		const folders = existsSync(made) ? readdirSync(made).filter((name) => !name.startsWith(".")) : [];
		const ids = [...new Set([...this.#ids, ...folders])];
		for (const { pid } of [...ids, basename(this.folder)].flatMap(traces)) kill(pid);
		for (const folder of ids.flatMap(groupsOf)) {
			await until(`${folder} is empty`, () => isRemoved(folder));
		}
	}

	remove(): void {
		rmSync(this.folder, { recursive: true, force: true });
	}

	/** By the archives of case 22, which have the same names. */
	#plant({ name }: HostileArchive): SnapshotMeta {
		const store = join(this.folder, "state/bwrap-snapshots");
		mkdirSync(store, { recursive: true, mode: 0o700 });
		const archives = join(this.folder, "archives");
		if (!existsSync(archives)) makeArchives(archives, "--without-bomb");
		const folder = join(store, name);
		cpSync(join(archives, name), folder, { recursive: true });
		const { owner: _owner, expires_at: _expires, ...meta } = plantManifest(folder, name);
		const { uid } = this.user;
		if (uid !== undefined) execFileSync("chown", ["-R", `${uid}:${uid}`, store]);
		return meta;
	}

	/** Its supervisor first: whoever sees the end of a command then finds that the sandbox has ended, not that it is ending. */
	async #crash({ sandbox_id }: Handle): Promise<void> {
		const supervisors = () => traces(sandbox_id).filter(({ command }) => / supervise /.test(command));
		for (const { pid } of supervisors()) kill(pid);
		await until("its supervisor is gone", () => supervisors().length === 0);
		for (const { pid } of traces(sandbox_id)) kill(pid);
		await until("all of it is gone", () => traces(sandbox_id).length === 0);
	}

	/** The id of a sandbox stands in the words or the mounts of each of its processes, and in the names of its groups. */
	#traces({ sandbox_id }: Handle): string[] {
		this.#ids.add(sandbox_id);
		return [
			...survivors(sandbox_id).map(({ pid, command }) => `process ${pid}: ${command}`),
			...[join(this.folder, "state/bwrap", sandbox_id)].filter(existsSync),
			...groupsOf(sandbox_id),
		];
	}
}

/** The kernel refuses as long as a process of it is not wholly gone, also when none is listed any more. */
function isRemoved(group: string): boolean {
	try {
		rmdirSync(group);
		return true;
	} catch {
		return !existsSync(group);
	}
}

/** Control groups of a sandbox, wherever they are. */
function groupsOf(sandboxId: string): string[] {
	const words = ["/sys/fs/cgroup", "-name", `sandboxer-${sandboxId}-*`];
	// Another's group may be removed while it is looked at.
	return spawnSync("find", words, { encoding: "utf8" })
		.stdout.split("\n")
		.filter((line) => line !== "");
}
