import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchemas } from "../../provider/documents/json-schemas";

const ROOT = join(__dirname, "../..");

test.each(Object.entries(jsonSchemas()))(
	"%s is what scripts/schemas writes (run it after npm run build)",
	(file, schema) => {
		expect(JSON.parse(readFileSync(join(ROOT, file), "utf8"))).toEqual(JSON.parse(JSON.stringify(schema)));
	},
);

test("an editor is told the allowed values, what must be there, and that no other key is known", () => {
	const profile = jsonSchemas()["profiles/profile.schema.json"] as {
		required: string[];
		additionalProperties: boolean;
		oneOf: unknown[];
		properties: { isolation: { properties: { level: { enum: string[] } } } };
	};
	expect(profile.required).toEqual(["id", "version", "isolation"]);
	expect(profile.additionalProperties).toBe(false);
	expect(profile.oneOf).toEqual([{ required: ["extension"] }, { required: ["route"] }]);
	expect(profile.properties.isolation.properties.level.enum).toEqual(["process", "container", "vm", "microvm"]);
});
