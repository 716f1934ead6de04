import { lookOutside, NOTHING } from "./outside-look";
import { processesOf } from "./processes";
import type { TestStack } from "./test-stack";

/** Exactly one sandbox of the stack lives, by an outside look, and it is the one in the state. */
export async function expectOneLive(stack: TestStack): Promise<void> {
	const [resource, ...others] = await stack.sandboxResources();
	const id = resource?.id ?? "(none in the state)";
	expect(others).toEqual([]);
	const look = lookOutside(stack);
	expect(look.live).toEqual([id]);
	const record = stack.record(id);
	// A killed provider's lock file means nothing: the kernel let go of the lock.
	expect({ ...look, names: look.names.filter((name) => name !== `.lock-${id}`) }).toEqual({
		names: [id],
		live: [id],
		supervisors: 1,
		namespaces: 1,
		cgroups: record.cgroups.map(({ folder }) => folder).sort(),
	});
	const { generation, claim, supervisor } = record;
	expect(resource?.initErrors ?? []).toEqual([]);
	expect(resource?.outputs).toMatchObject({
		phase: "ready",
		handle: { sandbox_id: id, generation, claim, pid: supervisor.pid },
		lease: { expiresAt: record.expires_at },
	});
}

/** Three times, as somebody does who is not sure: each succeeds, and nothing is left from the first on. */
export async function expectDestroyed(stack: TestStack): Promise<void> {
	for (let time = 1; time <= 3; time++) {
		await stack.destroy();
		expect(lookOutside(stack)).toEqual(NOTHING);
		expect(processesOf(stack.folder)).toEqual([]);
		expect(await stack.sandboxResources()).toEqual([]);
	}
}
