import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../../../provider/transport";

/** A row of words to be taken out of a command line, and what stands there instead. "*" is any word, and put the same one. */
export interface Edit {
	readonly find: readonly string[];
	readonly put?: readonly string[];
}

/** What a wrapper does to the program that it stands for. */
export interface Sabotage {
	readonly program: "bwrap" | "nsenter" | "prlimit" | "setpriv";
	readonly edits?: readonly Edit[];
	/** Shell text that is run before the program; the words are in "$@". */
	readonly before?: string;
}

/**
 * Puts a wrapper for a program first in a PATH: every command line of it is run with the edits, and otherwise
 * as it is.
 *
 * @returns The PATH.
 */
export function sabotaged(folder: string, path: string, { program, edits = [], before = "" }: Sabotage): string {
	const bin = join(folder, "sabotage");
	mkdirSync(bin, { recursive: true });
	const real = findProgram(program, path) ?? "";
	const file = join(bin, program);
	writeFileSync(file, ["#!/bin/sh", before, ...edits.flatMap(loopOf), `exec ${real} "$@"`, ""].join("\n"));
	chmodSync(bin, 0o755);
	chmodSync(file, 0o755);
	return `${bin}:${path}`;
}

/** Turns the words round once; those that fit are left out. */
function loopOf({ find, put = [] }: Edit): string[] {
	const fits = find.map((word, index) => (word === "*" ? [] : [`[ "\${${index + 1}-}" = ${quoted(word)} ]`]));
	const words = put.map((word, index) => (word === "*" ? `"$w${index + 1}"` : quoted(word)));
	return [
		"n=$#",
		'while [ "$n" -gt 0 ]; do',
		`\tif [ "$n" -ge ${find.length} ] && ${fits.flat().join(" && ")}; then`,
		...find.map((_, index) => `\t\tw${index + 1}=$${index + 1}`),
		`\t\tshift ${find.length}; n=$((n - ${find.length})); set -- "$@" ${words.join(" ")}; continue`,
		"\tfi",
		'\tset -- "$@" "$1"; shift; n=$((n - 1))',
		"done",
	];
}

function quoted(word: string): string {
	return `'${word.replaceAll("'", "'\\''")}'`;
}
