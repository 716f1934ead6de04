import { createGunzip, createGzip, type Gunzip, type Gzip } from "node:zlib";

/**
 * gzip, which every tar and every node reads; of zstd that is not so. Level 1: against the default (6) it takes half
 * the time and a tenth more room.
 */
const LEVEL = 1;

/**
 * Each has a thread of its own: pieces large enough, and enough of them waiting on both sides, that neither it nor
 * this thread waits for the other. As each stream takes it, though the types of zlib's do not say so.
 */
const WAITING = { highWaterMark: 4 * 1024 * 1024 };

export function compression(): Gzip {
	const options = { level: LEVEL, chunkSize: 256 * 1024, ...WAITING };
	return createGzip(options);
}

export function decompression(): Gunzip {
	const options = { chunkSize: 1024 * 1024, ...WAITING };
	return createGunzip(options);
}
