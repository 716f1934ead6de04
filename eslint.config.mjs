// Biome lints and formats; here stand only the rules that need types, which biome has not.
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

const PRODUCT = ["components/**/*.ts", "provider/**/*.ts", "extensions/**/*.ts", "cli/**/*.ts"];

export default defineConfig(
	{ ignores: ["**/node_modules/", "**/dist/", "docs/", "test/cases/"] },
	{
		files: [...PRODUCT, "test/**/*.ts", "bench/**/*.ts", "examples/**/*.ts", "scripts/**/*.ts"],
		linterOptions: { reportUnusedDisableDirectives: "error" },
		languageOptions: {
			parser: tseslint.parser,
			parserOptions: { project: "test/lint/tsconfig.json", tsconfigRootDir: import.meta.dirname },
		},
		plugins: { "@typescript-eslint": tseslint.plugin },
		rules: {
			"@typescript-eslint/no-floating-promises": "error",
			"@typescript-eslint/no-misused-promises": "error",
			"@typescript-eslint/await-thenable": "error",
			"@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
		},
	},
	{
		// Data from outside passes a schema once, then has a type. Tests look into whatever they made.
		files: PRODUCT,
		rules: {
			"@typescript-eslint/no-unsafe-argument": "error",
			"@typescript-eslint/no-unsafe-assignment": "error",
			"@typescript-eslint/no-unsafe-call": "error",
			"@typescript-eslint/no-unsafe-member-access": "error",
			"@typescript-eslint/no-unsafe-return": "error",
		},
	},
);
