import { leadsOut, leadsOutByItself, type Planned, type PlannedDirectory, pathText } from "../workspace";
import type { TarMember } from "./tar-header";

interface Placed {
	readonly parts: readonly string[];
	/** The directories from the root down to the one that it stands in. */
	readonly directories: readonly PlannedDirectory[];
}

interface Link extends Placed {
	readonly name: string;
	readonly target: Buffer;
}

const SETUID_OR_SETGID = 0o6000;

/** The tree that the members of an archive make, and what no member of it may be. Looks at no disk. */
export class ArchiveTree {
	readonly #root: PlannedDirectory = { kind: "directory", entries: new Map() };
	/** Directories that have a member of their own; others are there because something is in them. */
	readonly #named = new Set<PlannedDirectory>();
	readonly #links: Link[] = [];

	/**
	 * Puts a member into the tree.
	 *
	 * @returns Why it may not be there, as the continuation of a sentence that begins with it; it is not there then.
	 */
	add(member: TarMember): string | undefined {
		const { kind, name, mode } = member;
		if (kind === "fifo" || kind === "device") return `is a ${kind}`;
		if ((mode & SETUID_OR_SETGID) !== 0) return "is setuid or setgid";
		const parts = partsOf(name);
		if (typeof parts === "string") return parts;
		if (kind === "directory") return this.#directory(parts);
		if (parts.length === 0) return "has the name of a directory and is none";
		const directories = this.#walk(parts.slice(0, -1));
		if (typeof directories === "string") return directories;
		const placed = { parts, directories };
		if (kind === "file") return this.#place(placed, { kind: "file" });
		return kind === "symlink"
			? this.#link(name, placed, Buffer.from(member.target, "latin1"))
			: this.#hardLink(member, placed);
	}

	/** Whether a member of this name is there. */
	has(name: string): boolean {
		const parts = partsOf(name);
		return typeof parts !== "string" && this.#find(parts) !== undefined;
	}

	/** The first symbolic link that leads out through others, once all members are there. */
	leadingOut(): { readonly name: string; readonly target: string } | undefined {
		const found = this.#links.find(({ directories, target }) => leadsOut(directories, target));
		return found === undefined ? undefined : { name: found.name, target: found.target.toString("latin1") };
	}

	#directory(parts: readonly string[]): string | undefined {
		const directories = this.#walk(parts);
		if (typeof directories === "string") return directories;
		const directory = directories.at(-1) as PlannedDirectory;
		if (this.#named.has(directory)) return "is there twice";
		this.#named.add(directory);
		return undefined;
	}

	#link(name: string, placed: Placed, target: Buffer): string | undefined {
		if (target.length === 0) return "is a link to nothing";
		if (leadsOutByItself(placed.directories.length - 1, target))
			return `is a link that leads out (${pathText(target)})`;
		const fault = this.#place(placed, { kind: "link", target });
		if (fault === undefined) this.#links.push({ ...placed, name, target });
		return fault;
	}

	/** To a file that went before; one to a symbolic link is another symbolic link. */
	#hardLink({ name, target }: TarMember, placed: Placed): string | undefined {
		const parts = partsOf(target);
		const entry = typeof parts === "string" ? undefined : this.#find(parts);
		if (entry?.kind === "link") return this.#link(name, placed, entry.target);
		if (entry?.kind === "file") return this.#place(placed, entry);
		return `is a hard link to what is no file of it (${shown(target)})`;
	}

	#place({ parts, directories }: Placed, entry: Planned): string | undefined {
		const { entries } = directories.at(-1) as PlannedDirectory;
		const last = parts.at(-1) as string;
		if (entries.has(last)) return "is there twice";
		entries.set(last, entry);
		return undefined;
	}

	/** The directories on a path, made where they are not there yet. */
	#walk(parts: readonly string[]): readonly PlannedDirectory[] | string {
		const directories = [this.#root];
		for (const [depth, part] of parts.entries()) {
			const { entries } = directories[depth] as PlannedDirectory;
			let next = entries.get(part);
			if (next === undefined) {
				next = { kind: "directory", entries: new Map() };
				entries.set(part, next);
			}
			if (next.kind !== "directory") {
				const path = shown(parts.slice(0, depth + 1).join("/"));
				return next.kind === "link" ? `is written through the link ${path}` : `lies below ${path}, which is a file`;
			}
			directories.push(next);
		}
		return directories;
	}

	#find(parts: readonly string[]): Planned | undefined {
		let at: Planned | undefined = this.#root;
		for (const part of parts) at = at?.kind === "directory" ? at.entries.get(part) : undefined;
		return at;
	}
}

/** The parts of a member's name, or what is wrong with it. */
function partsOf(name: string): readonly string[] | string {
	if (name === "") return "has no name";
	if (name.startsWith("/")) return "has an absolute name";
	const parts = name.split("/").filter((part) => part !== "" && part !== ".");
	return parts.includes("..") ? 'has ".." in its name' : parts;
}

/** A name or path of any bytes, each one character, for a message. */
export function shown(name: string): string {
	return pathText(Buffer.from(name, "latin1"));
}
