/** The errno name of a failed system call, such as "ENOENT"; undefined for anything else that was thrown. */
export function errnoOf(thrown: unknown): string | undefined {
	if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
	return typeof thrown.code === "string" ? thrown.code : undefined;
}

/** A failed system call. Told by its shape: an error may come from another realm, where `instanceof` says no. */
export function isSystemError(thrown: unknown): thrown is Error & { readonly code: string; readonly syscall: string } {
	return (
		typeof thrown === "object" &&
		thrown !== null &&
		"syscall" in thrown &&
		"code" in thrown &&
		typeof thrown.code === "string"
	);
}

/** Whether something thrown is a failed system call with one of these codes, such as `ENOENT`. */
export function hasErrno(thrown: unknown, ...codes: readonly string[]): boolean {
	return isSystemError(thrown) && codes.includes(thrown.code);
}

/** What a failed system call says, without the path that it was given: that one goes through a descriptor and tells nobody anything. */
export function errnoText(thrown: unknown): string {
	if (isSystemError(thrown)) return thrown.message.replace(/, [a-z]+(?: '.*)?$/s, "");
	return thrown instanceof Error ? thrown.message : String(thrown);
}
