import type { Programs } from "./preflight";

/**
 * User ids that nobody else hands out (systemd's UIDS-GIDS: "unused", between the container range and the
 * foreign range). A sandbox that root makes runs under one of its own.
 */
export const OWN_UIDS = { first: 0x7000_0000, last: 0x7ffd_ffff } as const;

/** Options of setpriv(1) for a user of this machine, without the groups of whoever starts it; none: who it is. */
export function becomeOptions(uid: number | undefined): string[] {
	return uid === undefined ? [] : ["--reuid", String(uid), "--regid", String(uid), "--clear-groups"];
}

/** Words before a command that is to run as a user of this machine; none: as who it is. */
export function becomeWords({ setpriv }: Programs, uid: number | undefined): string[] {
	return uid === undefined ? [] : [setpriv, ...becomeOptions(uid)];
}
