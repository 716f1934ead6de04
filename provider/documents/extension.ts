import { isBuiltin } from "node:module";
import { z } from "zod";
import { extensionIdSchema, isolationLevelSchema } from "./words";

/**
 * The extension declaration (`ext.<name>.yaml`): what a backend can do, and where its handler is.
 */
export const extensionSchema = z
	.strictObject({
		id: extensionIdSchema.describe("`ext.<name>`, as in the file's name."),
		title: z.string().min(1),
		description: z.string().min(1).optional(),
		handler: z
			.string()
			.regex(/^[^:\s]+:[A-Za-z_$][\w$]*$/, 'must look like "./handler:ClassName" or "package-name:ClassName"')
			.refine(
				(handler) => !isBuiltin(handler.split(":")[0] ?? ""),
				'names a module of Node itself, not a handler ("./handler:ClassName")',
			)
			.describe("`./handler:ClassName` beside this file (built JavaScript), or `package-name:ClassName`."),
		capabilities: z.strictObject({
			isolation_levels: z.array(isolationLevelSchema).min(1),
			regions: z.array(z.string()).optional(),
			persistence: z.boolean().optional(),
			pricing_model: z.enum(["self-hosted", "metered"]),
		}),
		config: z
			.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
			.optional()
			.describe("Defaults of the extension's own settings; the handler validates them."),
	})
	.describe("A sandboxer extension: how one backend makes a sandbox.");

/** An extension declaration, validated. */
export type ExtensionDeclaration = z.output<typeof extensionSchema>;
