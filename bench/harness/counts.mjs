/**
 * How often things are repeated.
 *
 * @typedef {object} Counts
 * @property {number} pairs of what takes milliseconds
 * @property {number} commands run in a sandbox
 * @property {number} rounds of what runs pulumi, or takes as long
 * @property {number} files of a snapshot
 */

/** @type {Counts} */
export const FULL = { pairs: 60, commands: 200, rounds: 5, files: 100_000 };

/** @type {Counts} */
export const QUICK = { pairs: 10, commands: 30, rounds: 1, files: 10_000 };
