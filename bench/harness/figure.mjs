/**
 * A figure, and the limit that it should keep.
 *
 * @typedef {object} Figure
 * @property {string} name with its unit
 * @property {number} value
 * @property {number | null} limit the largest value that is good; null where the figure is for orientation
 * @property {boolean} holds true where there is no limit
 * @property {string} spread how the single measurements lay, for people
 */

/**
 * @param {string} name
 * @param {number} value
 * @param {number | null} limit
 * @returns {Figure}
 */
export function figure(name, value, limit, spread = "") {
	return { name, value: rounded(value), limit, holds: limit === null || value <= limit, spread };
}

/**
 * The median of measurements that belong together in pairs: of their ratios, so that what slowed both down
 * falls out.
 *
 * @param {string} name
 * @param {readonly number[]} numerators
 * @param {readonly number[]} denominators
 * @param {number | null} limit
 */
export function ratioOfPairs(name, numerators, denominators, limit) {
	const ratios = numerators.map((numerator, index) => numerator / denominators[index]);
	return figure(`${name}, median of the pairs' ratios`, median(ratios), limit, spreadOf(ratios));
}

/**
 * @param {string} name
 * @param {readonly number[]} values
 */
export function medianOf(name, values) {
	return figure(name, median(values), null, spreadOf(values));
}

/** @param {readonly number[]} values */
export function median(values) {
	if (values.length === 0) throw new Error("There is no median of nothing.");
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {readonly number[]} values */
export function spreadOf(values) {
	return `${rounded(Math.min(...values))} to ${rounded(Math.max(...values))} (${values.length})`;
}

/** To three digits after the point, or none where there are thousands. */
function rounded(value) {
	return Number(value.toFixed(Math.abs(value) >= 1000 ? 0 : 3));
}
