/** Whether something becomes known only later: a Pulumi Output or a promise. */
export function isEventual(value: unknown): boolean {
	if (typeof value !== "object" || value === null) return false;
	const { __pulumiOutput: output, then } = value as { __pulumiOutput?: unknown; then?: unknown };
	return output === true || typeof then === "function";
}

/** Whether a value becomes known only later or holds something that does. */
export function holdsEventual(value: unknown): boolean {
	if (isEventual(value)) return true;
	return typeof value === "object" && value !== null && Object.values(value).some(holdsEventual);
}
