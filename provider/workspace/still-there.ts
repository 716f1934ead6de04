/** What could not be removed and why, as a sentence. */
export function stillThere(path: string, why: string): string {
	return `${JSON.stringify(path)} is still there: ${why}.`;
}
