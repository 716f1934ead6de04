import { z } from "zod";

/** Words that a program would take for a remote place or for an option; only local trees are copied. */
const REMOTE = /^[a-z][a-z0-9+.-]*:|^[^/]*@[^/]*:/i;

/** The inputs of `ext.bwrap`. */
export const bwrapInputsSchema = z.strictObject({
	repo: z
		.string()
		.min(1)
		.refine((repo) => !repo.includes("\0") && !/[\r\n]/.test(repo), "holds a line break or a NUL byte")
		.refine((repo) => !repo.startsWith("-"), 'starts with a dash, which programs take for an option; write "./-name"')
		.refine((repo) => !REMOTE.test(repo), 'is not a local folder; clone it first and give its path, such as "./app"')
		.optional()
		.describe("A local folder that is copied into the workspace, as git lists it."),
});
export type BwrapInputs = z.output<typeof bwrapInputsSchema>;
