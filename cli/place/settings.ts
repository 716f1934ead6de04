import type { Settings } from "../../provider/registry";
import { UsageError } from "../command-line/usage-error";

/** Settings of namespace `sandboxer`, by their full key; objects as JSON. May hold secrets. */
export type SettingValues = Readonly<Record<string, string>>;

export function settingsOf(values: SettingValues): Settings {
	return { get: (key) => values[key] };
}

/**
 * Settings with those of the command line over them. `KEY.PART=VALUE` sets one part of an object, as
 * `pulumi config set --path` does.
 *
 * @throws UsageError for what is not KEY=VALUE, and for a secret: a command line is no place for one.
 */
export function overlaid(values: SettingValues, given: readonly string[]): SettingValues {
	const all: Record<string, string> = { ...values };
	for (const text of given) {
		const [, key = "", part, value = ""] = /^(?:sandboxer:)?([A-Za-z][\w-]*)(?:\.([\w-]+))?=(.*)$/s.exec(text) ?? [];
		if (key === "") throw new UsageError(`--config ${JSON.stringify(text)} is not KEY=VALUE.`);
		if (key === "secrets") {
			throw new UsageError(
				"--config secrets would show a secret to everybody on this machine.",
				"Set the environment variable SANDBOXER_SECRET_<REF>, or take them from a stack with --stack.",
			);
		}
		const name = `sandboxer:${key}`;
		all[name] = part === undefined ? value : withPart(name, all[name], part, value);
	}
	return all;
}

function withPart(name: string, before: string | undefined, part: string, value: string): string {
	try {
		return JSON.stringify({ ...(JSON.parse(before ?? "{}") as object), [part]: value });
	} catch {
		throw new UsageError(`The setting ${name} is no object: it has no part ${part}.`);
	}
}
