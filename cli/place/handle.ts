import { z } from "zod";
import type { Handle } from "../../provider/contract";
import { extensionIdSchema, sandboxIdSchema } from "../../provider/documents/words";

const handleSchema = z.looseObject({
	extension: extensionIdSchema,
	sandbox_id: sandboxIdSchema,
	host: z.string(),
	generation: z.number().int(),
});

/** A handle, as far as every extension's is one; its own fields are checked by the extension itself. */
export function asHandle(value: unknown): Handle | undefined {
	const { success, data } = handleSchema.safeParse(value);
	return success ? (data as Handle) : undefined;
}

/** All handles in a document, wherever they stand; the same one counts once. */
export function handlesIn(value: unknown): Handle[] {
	const found = new Map<string, Handle>();
	const visit = (part: unknown): void => {
		const handle = asHandle(part);
		if (handle !== undefined) found.set(JSON.stringify(Object.entries(handle).sort()), handle);
		else if (typeof part === "object" && part !== null) Object.values(part).forEach(visit);
	};
	visit(value);
	return [...found.values()];
}
