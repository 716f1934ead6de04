/** A word for the text of sh(1), quoted where it has to be. */
export function shellWord(word: string): string {
	return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
