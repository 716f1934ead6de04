/** Typing errors that a suggestion forgives. */
const FORGIVEN = 2;

function editDistance(left: string, right: string): number {
	let row = Array.from({ length: right.length + 1 }, (_, index) => index);
	for (const [index, letter] of [...left].entries()) {
		const next = [index + 1];
		for (let column = 1; column <= right.length; column++) {
			const changed = (row[column - 1] ?? 0) + (letter === right[column - 1] ? 0 : 1);
			next.push(Math.min(changed, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
		}
		row = next;
	}
	return row[right.length] ?? 0;
}

/** The one word that a mistyped word was probably meant to be; none where two are as near, or none is within two edits. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
	const near = candidates
		.filter((candidate) => Math.abs(candidate.length - word.length) <= FORGIVEN)
		.map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
		.filter(({ candidate, distance }) => distance <= FORGIVEN && distance < candidate.length)
		.sort((left, right) => left.distance - right.distance);
	const [best, second] = near;
	return best !== undefined && best.distance !== second?.distance ? best.candidate : undefined;
}
