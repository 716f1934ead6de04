/** Waits for all of them, and then fails with the first that failed: nothing goes on while it is cleaned up after. */
export async function allDone(works: readonly Promise<unknown>[]): Promise<void> {
	for (const outcome of await Promise.allSettled(works)) if (outcome.status === "rejected") throw outcome.reason;
}
