import type { TarMember } from "./tar-header";

/** What one snapshot may hold; more is neither taken nor restored. */
export interface SnapshotLimits {
	/** What its files hold, in bytes, holes not counted. */
	readonly bytes: number;
	/** Files, links and directories. */
	readonly members: number;
	/** Names, attributes and all else in the archive that is no file's content, in bytes. */
	readonly headers: number;
}

/** Of headers a member has 512 to 1536 bytes, more where it has attributes or a name over 100. */
export const DEFAULT_LIMITS: SnapshotLimits = { bytes: 64 * 1024 ** 3, members: 2_000_000, headers: 8 * 1024 ** 3 };

/** Counts the members of an archive, and holds them against the limits. */
export class Tally {
	readonly #limits: SnapshotLimits;
	#members = 0;
	#headers = 0;
	#files = 0;
	#bytes = 0;

	constructor(limits: SnapshotLimits) {
		this.#limits = limits;
	}

	/** Files and links, not directories. */
	get files(): number {
		return this.#files;
	}

	/** What the files hold, in bytes, holes not counted. */
	get bytes(): number {
		return this.#bytes;
	}

	/** @returns What is over its limit with this one, as the continuation of a sentence; undefined while nothing is. */
	add({ kind, size }: TarMember, headerBytes: number): string | undefined {
		this.#members += 1;
		this.#headers += headerBytes;
		if (kind !== "directory") this.#files += 1;
		this.#bytes += size;
		const { bytes, members, headers } = this.#limits;
		if (this.#bytes > bytes) return `holds more than ${bytes} bytes`;
		if (this.#members > members) return `holds more than ${members} files and directories`;
		return this.#headers > headers ? `holds more than ${headers} bytes of names and attributes` : undefined;
	}
}
