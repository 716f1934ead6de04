import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { ExtensionHost } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";

const configSchema = z.strictObject({
	/** Where the sandboxes' folders are. */
	state_dir: z.string().optional(),
});

/**
 * The folder that holds one folder a sandbox: stack config `sandboxer:bwrap` {state_dir}, else
 * SANDBOXER_STATE_DIR, else /var/lib/sandboxer for root (other users' ids must be able to pass through it)
 * and the user's own state folder (XDG_STATE_HOME) for anybody else.
 */
export function baseDirectory(host: ExtensionHost): string {
	const parsed = configSchema.safeParse(host.config);
	if (!parsed.success) {
		throw new SandboxerError({
			code: "invalid",
			message: `The settings of ext.bwrap are not valid: ${z.prettifyError(parsed.error)}.`,
			hint: "Allowed is state_dir, an absolute folder: pulumi config set --path sandboxer:bwrap.state_dir /srv/sandboxes.",
		});
	}
	const state = parsed.data.state_dir ?? host.environment("SANDBOXER_STATE_DIR") ?? defaultStateDirectory(host);
	return join(state, "bwrap");
}

function defaultStateDirectory(host: ExtensionHost): string {
	if (process.getuid?.() === 0) return "/var/lib/sandboxer";
	return join(host.environment("XDG_STATE_HOME") ?? join(homedir(), ".local", "state"), "sandboxer");
}
