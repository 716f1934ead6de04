/** The errno name of a failed system call, such as "ENOENT"; undefined for anything else that was thrown. */
export function errnoOf(thrown: unknown): string | undefined {
	if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
	return typeof thrown.code === "string" ? thrown.code : undefined;
}
