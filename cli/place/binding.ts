import { basename } from "node:path";
import type { Owner, SandboxExtension } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { type Checked, check, type SandboxInputs } from "../../provider/lifecycle";
import { type LoadedProfile, loadProfile } from "../../provider/registry";
import { UsageError } from "../command-line/usage-error";
import { CLI_SCOPE } from "../output/sandbox";
import type { Place } from "./place";

/** What a sandbox is asked for by on the command line. */
export interface Wish {
	readonly profile: string;
	readonly sandboxId: string;
	readonly ttl: string | undefined;
	readonly inputs: Readonly<Record<string, unknown>>;
	readonly labels: Readonly<Record<string, string>>;
}

/** A profile bound to its extension, as a program's check binds it. */
export interface Binding {
	readonly loaded: LoadedProfile;
	readonly extension: SandboxExtension;
	readonly checked: Checked;
}

/** @throws SandboxerError `invalid` for the profile, `unsupported` for one with a route. What is wrong with the rest stands in `checked`. */
export function bind(place: Place, { profile: reference, ...wish }: Wish): Binding {
	const loaded = loadProfile(reference, { ...place.search, cwd: place.folder });
	const { profile, declaration } = loaded;
	if (declaration === undefined) {
		throw new SandboxerError({
			code: "unsupported",
			message: `Profile ${profile.id} has a route, which this version cannot follow yet.`,
			hint: "Name one extension in it instead.",
		});
	}
	const extension = place.open(declaration.id);
	const { ttl, ...rest } = wish;
	const asked = { ...rest, ...(ttl === undefined ? {} : { ttl }), owner: ownerOf(place, wish.sandboxId) };
	const checked = check(extension, {}, { ...asked, extension: declaration.id, profile });
	return { loaded, extension, checked };
}

/** @throws SandboxerError `invalid` with all that is wrong. */
export function boundInputs({ checked: { inputs, problems } }: Binding): SandboxInputs {
	if (problems.length === 0) return inputs as unknown as SandboxInputs;
	throw new SandboxerError({
		code: "invalid",
		message: problems.map(({ field, reason }) => `${field} ${reason}`).join("\n"),
		details: { problems },
	});
}

/** The command line as an owner: its lease ends what it made, or `sandboxer remove`. */
function ownerOf({ folder }: Place, sandboxId: string): Owner {
	return { scope: CLI_SCOPE, project: basename(folder) || "-", stack: "-", urn: `cli:${sandboxId}` };
}

/** `KEY=VALUE` words as a mapping. */
export function pairs(option: string, words: readonly string[] = []): Readonly<Record<string, string>> {
	return Object.fromEntries(
		words.map((word) => {
			const at = word.indexOf("=");
			if (at < 1) throw new UsageError(`--${option} ${JSON.stringify(word)} is not KEY=VALUE.`);
			return [word.slice(0, at), word.slice(at + 1)];
		}),
	);
}

/** Inputs of an extension as the command line gives them: numbers, booleans and the like as JSON, all else as a text. */
export function inputsOf(words: readonly string[] | undefined): Readonly<Record<string, unknown>> {
	return Object.fromEntries(
		Object.entries(pairs("input", words)).map(([key, text]) => {
			try {
				return [key, JSON.parse(text) as unknown];
			} catch {
				return [key, text];
			}
		}),
	);
}
