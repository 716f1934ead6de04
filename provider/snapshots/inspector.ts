import { createHash } from "node:crypto";
import { ArchiveTree } from "./archive-tree";
import { type SnapshotLimits, Tally } from "./limits";
import { type Manifest, sumLine } from "./manifest";
import { ArchiveFault, type TarMember } from "./tar-header";
import type { TarVisitor } from "./tar-reader";

/** Holds each member against the rules, the limits and the manifest; against its sum only where sums are given. */
export class Inspector implements TarVisitor {
	readonly #tree = new ArchiveTree();
	readonly #manifest: Manifest;
	readonly #tally: Tally;
	readonly #sums: Buffer | undefined;
	/** Where the next line of the sums begins. */
	#at = 0;
	#hash = createHash("sha256");

	constructor(manifest: Manifest, limits: SnapshotLimits, sums?: Buffer) {
		this.#manifest = manifest;
		this.#tally = new Tally(limits);
		this.#sums = sums;
	}

	member(member: TarMember, headerBytes: number): void {
		const { name, kind } = member;
		const fault = this.#tree.add(member);
		if (fault !== undefined) throw new ArchiveFault(fault, name);
		const over = this.#tally.add(member, headerBytes);
		if (over !== undefined) throw new ArchiveFault(`is one too many: the archive ${over}`, name);
		const { unpacked_bytes, file_count } = this.#manifest;
		if (this.#tally.bytes > unpacked_bytes || this.#tally.files > file_count)
			throw new ArchiveFault("is more than the manifest tells of", name);
		if (kind === "file" && this.#sums !== undefined) this.#hash = createHash("sha256");
	}

	data(bytes: Buffer): void {
		if (this.#sums !== undefined) this.#hash.update(bytes);
	}

	memberEnd({ kind, name, size }: TarMember): void {
		if (kind !== "file" || this.#sums === undefined) return;
		const line = Buffer.from(sumLine(name, size, this.#hash.digest("hex")));
		const end = this.#at + line.length;
		if (!line.equals(this.#sums.subarray(this.#at, end))) throw new ArchiveFault("is not what its sum tells of", name);
		this.#at = end;
	}

	/** Once all members have gone by. */
	end(): void {
		const { unpacked_bytes, file_count } = this.#manifest;
		if (this.#tally.bytes !== unpacked_bytes || this.#tally.files !== file_count)
			throw new ArchiveFault("holds less than its manifest tells of");
		const link = this.#tree.leadingOut();
		if (link !== undefined) throw new ArchiveFault("is a link that leads out through others", link.name);
	}
}
