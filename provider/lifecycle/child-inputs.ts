import { z } from "zod";

/** Whose a resource is, among its inputs. */
export const ownerSchema = z.strictObject({
	scope: z.string(),
	project: z.string(),
	stack: z.string(),
	urn: z.string(),
});

/** What every child of a sandbox has among its inputs: its sandbox's extension and handle, and whose it is. */
export const childInputs = {
	extension: z.string(),
	handle: z.looseObject({ extension: z.string(), sandbox_id: z.string(), host: z.string(), generation: z.number() }),
	owner: ownerSchema,
} as const;

/** The inputs that a child's outputs were made of. */
export function inputsAmong(
	{ shape }: { readonly shape: object },
	outputs: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
	return Object.fromEntries(Object.entries(outputs).filter(([key]) => key in shape));
}

/** Without the keys that have no value: the engine can hold none. */
export function withoutAbsent<T extends object>(value: T): T {
	return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
