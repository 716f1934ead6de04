/** C0 and C1 controls, DEL, and what turns the direction of a line around. */
const UNPRINTABLE = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/**
 * A text as it may stand on a terminal: names and labels can come from whoever made a sandbox, or from inside one,
 * and a terminal obeys control characters.
 */
export function printable(text: string): string {
	return text.replaceAll(UNPRINTABLE, (character) => {
		const code = character.codePointAt(0) ?? 0;
		return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
	});
}
