/** What one snapshot may hold; more is neither taken nor restored. */
export interface SnapshotLimits {
	/** What its files hold, in bytes, holes not counted. */
	readonly bytes: number;
	/** Files, links and directories. */
	readonly members: number;
}

export const DEFAULT_LIMITS: SnapshotLimits = { bytes: 64 * 1024 ** 3, members: 2_000_000 };

/** What is over its limit, as the continuation of a sentence; undefined while nothing is. */
export function overLimit(bytes: number, members: number, limits: SnapshotLimits): string | undefined {
	if (bytes > limits.bytes) return `holds more than ${limits.bytes} bytes`;
	return members > limits.members ? `holds more than ${limits.members} files and directories` : undefined;
}
