/** A member of an archive, as tar has it. */
export interface ArchiveMember {
	readonly name: string;
	readonly type?: "file" | "symlink" | "hardlink" | "character device" | "fifo";
	readonly linkname?: string;
	readonly data?: string;
	readonly mode?: number;
	readonly uid?: number;
}

/** An archive that must not be restored. */
export interface HostileArchive {
	/** As case 22 calls it. */
	readonly name: string;
	/** In this order; empty: what `damage` makes of a good one. */
	readonly members: readonly ArchiveMember[];
	readonly damage?: "cut short" | "empty";
	/** The member that the refusal names. */
	readonly blamed?: string;
}

const file = (name: string, more: Partial<ArchiveMember> = {}): ArchiveMember => ({ name, data: "canary", ...more });
const link = (name: string, linkname: string): ArchiveMember => ({ name, type: "symlink", linkname });
const hard = (name: string, linkname: string): ArchiveMember => ({ name, type: "hardlink", linkname });

export const HOSTILE: readonly HostileArchive[] = [
	{ name: "absolute", members: [file("/srv/elsewhere/abs")], blamed: "/srv/elsewhere/abs" },
	{ name: "dotdot", members: [file("../up")], blamed: "../up" },
	{ name: "dotdot-deep", members: [file("a/b/../../../up")], blamed: "a/b/../../../up" },
	{ name: "link-out", members: [link("l", "../outside")], blamed: "l" },
	{ name: "link-out-abs", members: [link("l", "/etc/hostname")], blamed: "l" },
	{ name: "write-through", members: [link("d", "../outside"), file("d/f")], blamed: "d" },
	{ name: "hardlink-out", members: [hard("h", "../outside/secret")], blamed: "h" },
	{ name: "hardlink-link", members: [link("s", "../outside/secret"), hard("h", "s")], blamed: "s" },
	{ name: "device", members: [{ name: "dev", type: "character device" }], blamed: "dev" },
	{ name: "fifo", members: [{ name: "pipe", type: "fifo" }], blamed: "pipe" },
	{ name: "setuid", members: [file("su", { mode: 0o4755, uid: 0 })], blamed: "su" },
	{ name: "twice", members: [file("same"), link("same", "/etc/hostname")], blamed: "same" },
	{ name: "cut-short", members: [], damage: "cut short" },
	{ name: "empty", members: [], damage: "empty" },
];
