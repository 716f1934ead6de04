const SLASH = Buffer.from("/");

/** A name below a path, as bytes; the name alone where the path is empty. */
export function joinBytes(parent: Buffer, name: Buffer): Buffer {
	return parent.length === 0 ? name : Buffer.concat([parent, SLASH, name]);
}
