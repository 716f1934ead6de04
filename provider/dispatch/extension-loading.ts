import type { SandboxExtension } from "../contract";
import { SandboxerError } from "../errors";
import { findExtension, loadHandler, searchFrom } from "../registry";

/** Stack config of namespace `sandboxer`, as configure hands it over: plain text, also where it is secret. */
export interface StackConfig {
	get(key: string): string | undefined;
}

/** The extension of that id, made with its settings: the declaration's own, overlaid by stack config `sandboxer:<name>`. */
export function loadExtension(id: string, config: StackConfig, environment = process.env): SandboxExtension {
	const search = searchFrom({
		cwd: process.cwd(),
		profilePath: config.get("sandboxer:profilePath"),
		extensionPath: config.get("sandboxer:extensionPath"),
	});
	const declaration = findExtension(id, search);
	const settings = settingsOf(id.slice("ext.".length), config);
	return loadHandler(
		declaration,
		{
			declaration,
			config: { ...declaration.config, ...settings },
			environment: (name) => environment[name],
			now: Date.now,
		},
		search.cwd,
	);
}

function settingsOf(name: string, config: StackConfig): Record<string, unknown> {
	const key = `sandboxer:${name}`;
	const text = config.get(key);
	if (text === undefined) return {};
	const settings = parsed(text);
	if (typeof settings === "object" && settings !== null && !Array.isArray(settings))
		return settings as Record<string, unknown>;
	// The value may be a secret: it is not told.
	throw new SandboxerError({
		code: "invalid",
		message: `Stack config ${key} is not an object.`,
		hint: `Set its keys one by one: pulumi config set --path ${key}.<key> <value>.`,
	});
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
