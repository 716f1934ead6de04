/**
 * User ids that nobody else hands out (systemd's UIDS-GIDS: "unused", between the container range and the
 * foreign range). A sandbox that root makes runs under one of its own.
 */
export const OWN_UIDS = { first: 0x7000_0000, last: 0x7ffd_ffff } as const;
