import { join } from "node:path";
import { z } from "zod";
import type { ExtensionHost } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { stateDirectory } from "../../provider/records";

const configSchema = z.strictObject({
	/** Where the sandboxes' folders are. */
	state_dir: z.string().optional(),
	/** Where the snapshots are: they outlive the sandboxes. */
	snapshot_dir: z.string().regex(/^\/./, "must be an absolute folder").optional(),
});

/** Where this extension keeps what it makes. */
export interface Directories {
	/** Holds one folder a sandbox. */
	readonly base: string;
	/** Holds one folder a snapshot. */
	readonly snapshots: string;
}

/**
 * Stack config `sandboxer:bwrap` {state_dir, snapshot_dir}, else the machine's state folder and a place beside
 * the sandboxes.
 */
export function directoriesOf(host: ExtensionHost): Directories {
	const parsed = configSchema.safeParse(host.config);
	if (!parsed.success) {
		throw new SandboxerError({
			code: "invalid",
			message: `The settings of ext.bwrap are not valid: ${z.prettifyError(parsed.error)}.`,
			hint: "Allowed are state_dir and snapshot_dir, absolute folders: pulumi config set --path sandboxer:bwrap.state_dir /srv/sandboxes.",
		});
	}
	const { state_dir, snapshot_dir } = parsed.data;
	const state = state_dir ?? stateDirectory((name) => host.environment(name));
	return { base: join(state, "bwrap"), snapshots: snapshot_dir ?? join(state, "bwrap-snapshots") };
}
