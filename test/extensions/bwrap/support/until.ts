/** Waits until something holds; says what did not after the time is up. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
	const deadline = Date.now() + timeoutMs;
	while (!(await holds())) {
		if (Date.now() > deadline) throw new Error(`after ${timeoutMs} ms this does not hold: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
}
