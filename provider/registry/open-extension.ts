import type { SandboxExtension } from "../contract";
import { parseJson } from "../documents/parse-json";
import { SandboxerError } from "../errors";
import { findExtension } from "./extensions";
import { loadHandler } from "./load-handler";
import { searchFrom } from "./search";

/** Settings of namespace `sandboxer`, such as a stack's config: plain text, also where it is secret; objects as JSON. */
export interface Settings {
	get(key: string): string | undefined;
}

/** The extension of that id, made with its settings: the declaration's own, overlaid by `sandboxer:<name>`. */
export function openExtension(id: string, settings: Settings, environment = process.env): SandboxExtension {
	const search = searchFrom({
		cwd: process.cwd(),
		profilePath: settings.get("sandboxer:profilePath"),
		extensionPath: settings.get("sandboxer:extensionPath"),
	});
	const declaration = findExtension(id, search);
	const own = settingsOf(id.slice("ext.".length), settings);
	const variable = (name: string) => environment[name];
	return loadHandler(
		declaration,
		{
			declaration,
			config: { ...declaration.config, ...own },
			environment: variable,
			credentials: credentials().credentialSource((key) => settingValue(settings.get(`sandboxer:${key}`)), variable),
			now: Date.now,
		},
		search.cwd,
	);
}

/** Loaded for whoever opens an extension: a program that only names profiles needs none of their schemas. */
function credentials(): typeof import("../credentials") {
	return require("../credentials") as typeof import("../credentials");
}

function settingsOf(name: string, settings: Settings): Record<string, unknown> {
	const key = `sandboxer:${name}`;
	const text = settings.get(key);
	if (text === undefined) return {};
	const own = parseJson(text);
	if (typeof own === "object" && own !== null && !Array.isArray(own)) return own as Record<string, unknown>;
	// The value may be a secret: it is not told.
	throw new SandboxerError({
		code: "invalid",
		message: `Stack config ${key} is not an object.`,
		hint: `Set its keys one by one: pulumi config set --path ${key}.<key> <value>.`,
	});
}

/** A setting, whatever it is; what is no JSON stays a text. */
function settingValue(text: string | undefined): unknown {
	return text === undefined ? undefined : (parseJson(text) ?? text);
}
