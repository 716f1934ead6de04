/**
 * Bounded parallelism over a whole tree. Whoever finds no free lane does the work itself, so calls may
 * nest without locking up. After the first failure nothing new is started.
 *
 * @example
 * ```ts
 * const lanes = new Lanes(16);
 * await lanes.spread(names, async (name) => copy(name));
 * ```
 */
export class Lanes {
	#free: number;
	#failure: { readonly thrown: unknown } | undefined;

	/** @param count - how many pieces of work run at once, at most. */
	constructor(count: number) {
		this.#free = count - 1;
	}

	/** Does the work for every item; ends when all that was started has ended, and throws the first failure. */
	async spread<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
		const running = new Set<Promise<void>>();
		for (const item of items) {
			if (this.#failure !== undefined) break;
			const done = this.#guarded(item, work);
			if (this.#free <= 0) {
				await done;
				continue;
			}
			this.#free -= 1;
			const lane = done.finally(() => {
				this.#free += 1;
				running.delete(lane);
			});
			running.add(lane);
		}
		await Promise.all(running);
		if (this.#failure !== undefined) throw this.#failure.thrown;
	}

	async #guarded<T>(item: T, work: (item: T) => Promise<void>): Promise<void> {
		try {
			await work(item);
		} catch (thrown) {
			this.#failure ??= { thrown };
		}
	}
}
