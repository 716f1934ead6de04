import { z } from "zod";
import { extensionSchema } from "./extension";
import { profileSchema } from "./profile";

/** The JSON Schemas of the documents, for editors: file (from the repository's root) → schema. */
export function jsonSchemas(): Readonly<Record<string, object>> {
	const schema = (of: z.ZodType): object => z.toJSONSchema(of, { io: "input" });
	return {
		"profiles/profile.schema.json": schema(profileSchema),
		"extensions/extension.schema.json": schema(extensionSchema),
	};
}
