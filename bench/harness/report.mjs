/** @typedef {import("./figure.mjs").Figure} Figure */

/** @param {readonly Figure[]} figures */
export function printJson(figures) {
	const lines = figures.map(({ name, value, limit, holds }) => JSON.stringify({ name, value, limit, holds }));
	console.log(`[\n${lines.join(",\n")}\n]`);
}

/** @param {readonly Figure[]} figures */
export function printTable(figures) {
	const rows = figures.map(({ name, value, limit, holds, spread }) => [
		name,
		String(value),
		limit === null ? "" : String(limit),
		limit === null ? "" : holds ? "holds" : "FALLS SHORT",
		spread,
	]);
	const table = [["figure", "value", "limit", "", "min to max (times)"], ...rows];
	const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
	for (const row of table)
		console.log(
			row
				.map((cell, column) =>
					column === 1 || column === 2 ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
				)
				.join("  ")
				.trimEnd(),
		);
}

/** Tells how far things are: on standard error, for the figures have standard output to themselves. */
export function progress(text) {
	console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);
}
