/**
 * What the engine puts in place of every value that is not known yet during a preview, whatever its type
 * (UnknownStringValue in the Pulumi SDK, sdk/go/common/resource/plugin).
 */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export function isUnknown(value: unknown): boolean {
	return value === UNKNOWN;
}

/** Whether a value is unknown or holds something that is. An unknown inside an interpolated text counts too. */
export function holdsUnknown(value: unknown): boolean {
	if (typeof value === "string") return value.includes(UNKNOWN);
	if (Array.isArray(value)) return value.some(holdsUnknown);
	return typeof value === "object" && value !== null && Object.values(value).some(holdsUnknown);
}

/** A copy without anything that is unknown: keys and list members that are go missing. */
export function withoutUnknown<T>(value: T): T {
	if (Array.isArray(value)) return value.filter((member) => !isUnknown(member)).map(withoutUnknown) as T;
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([, member]) => !isUnknown(member))
			.map(([key, member]) => [key, withoutUnknown(member)]),
	) as T;
}
