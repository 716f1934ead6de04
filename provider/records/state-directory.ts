import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Where this machine keeps what outlives a run: SANDBOXER_STATE_DIR, else /var/lib/sandboxer for root (other
 * users' ids must be able to pass through it) and the user's own state folder (XDG_STATE_HOME) for anybody else.
 */
export function stateDirectory(environment: (name: string) => string | undefined): string {
	const named = environment("SANDBOXER_STATE_DIR");
	if (named !== undefined) return named;
	if (process.getuid?.() === 0) return "/var/lib/sandboxer";
	return join(environment("XDG_STATE_HOME") ?? join(homedir(), ".local", "state"), "sandboxer");
}
