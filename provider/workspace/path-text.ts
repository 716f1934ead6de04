import { isUtf8 } from "node:buffer";

/** A name or path of any bytes as text; bytes that are no UTF-8 are written as `\xNN`, so that two names never look the same. */
export function plainPathText(bytes: Buffer): string {
	if (isUtf8(bytes)) return bytes.toString("utf8");
	return bytes.toString("latin1").replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
}

/** A name or path of any bytes for a message: in quotes, on one line, with what does not print escaped. */
export function pathText(bytes: Buffer): string {
	if (isUtf8(bytes)) return JSON.stringify(bytes.toString("utf8"));
	return JSON.stringify(bytes.toString("latin1")).replace(
		/[\x80-\xff]/g,
		(byte) => `\\x${byte.charCodeAt(0).toString(16)}`,
	);
}
