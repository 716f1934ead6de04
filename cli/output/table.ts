import { printable } from "./printable";

/** Rows as lines, their columns aligned; nothing in a cell reaches the terminal as a control character. */
export function rows(cells: readonly (readonly string[])[]): string[] {
	const shown = cells.map((row) => row.map(printable));
	const widths = (shown[0] ?? []).map((_, column) => Math.max(...shown.map((row) => (row[column] ?? "").length)));
	return shown.map((row) =>
		row
			.map((cell, column) => cell.padEnd(widths[column] ?? 0))
			.join("  ")
			.trimEnd(),
	);
}

/** A table with a head, or the sentence that there is nothing in it. */
export function table(head: readonly string[], body: readonly (readonly string[])[], empty: string): string {
	return body.length === 0 ? empty : rows([head, ...body]).join("\n");
}

/** Facts with their names in front; a fact that is not there is left out. */
export function facts(named: Readonly<Record<string, string | undefined>>): string {
	const known = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined);
	return rows(known.map(([name, value]) => [`${name}:`, value])).join("\n");
}
