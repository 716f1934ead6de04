/**
 * How often things are repeated.
 *
 * @typedef {object} Counts
 * @property {number} pairs of what takes milliseconds
 * @property {number} rounds of what runs pulumi
 */

/** @type {Counts} */
export const FULL = { pairs: 60, rounds: 5 };

/** @type {Counts} */
export const QUICK = { pairs: 10, rounds: 1 };
