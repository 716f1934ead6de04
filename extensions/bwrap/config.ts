import { join } from "node:path";
import { z } from "zod";
import type { ExtensionHost } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { stateDirectory } from "../../provider/records";

const configSchema = z.strictObject({
	/** Where the sandboxes' folders are. */
	state_dir: z.string().optional(),
});

/**
 * The folder that holds one folder a sandbox: stack config `sandboxer:bwrap` {state_dir}, else the machine's
 * state folder.
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
	return join(parsed.data.state_dir ?? stateDirectory((name) => host.environment(name)), "bwrap");
}
