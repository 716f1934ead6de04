/** What is to be copied, by name in its directory; each byte of a name is one character (latin1). */
export interface PlannedDirectory {
	readonly kind: "directory";
	readonly entries: Map<string, Planned>;
}

export interface PlannedFile {
	readonly kind: "file";
}

/** A symbolic link with its target as read once: what was checked is what is written. */
export interface PlannedLink {
	readonly kind: "link";
	readonly target: Buffer;
}

export type Planned = PlannedDirectory | PlannedFile | PlannedLink;
