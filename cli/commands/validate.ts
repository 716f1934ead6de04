import { basename, dirname, resolve } from "node:path";
import { SandboxerError } from "../../provider/errors";
import { findExtension, listProfiles, loadExtensions, loadProfile } from "../../provider/registry";
import { defineCommand } from "../command-line/command";
import { EXIT } from "../command-line/exit";
import { printable } from "../output/printable";
import { errorDocument } from "../output/report";
import { WHERE } from "../place/options";
import { Place } from "../place/place";

/** A document that was judged. */
interface Judged {
	readonly kind: "profile" | "extension";
	/** As it was asked for, else its id. */
	readonly name: string;
	readonly error: SandboxerError | undefined;
}

export const validate = defineCommand({
	name: "validate",
	summary: "Judges profiles and extensions, each problem with file, line and key",
	about:
		"Without DOCUMENT all that the search path holds. DOCUMENT is a name (bwrap-local, ext.bwrap) or a file; a file whose\nname begins with ext. is an extension's declaration, any other a profile. An extension's handler is loaded too. The\nexit status is 1 where there is a problem. Of --stack it takes the settings.",
	arguments: [{ name: "DOCUMENT", optional: true, many: true, complete: "profiles" }],
	options: WHERE,
	examples: [
		["sandboxer validate", "all profiles and extensions there are"],
		["sandboxer validate ./profile.ci.yaml --json", "one file, for an editor or a pipeline"],
	],
	async run({ words, ...invocation }) {
		const place = await Place.of(invocation);
		const judged = words.length > 0 ? words.map((word) => judge(word, place)) : everything(place);
		const wrong = judged.filter(({ error }) => error !== undefined).length;
		return {
			document: {
				documents: judged.map(({ kind, name, error }) => ({
					kind,
					name,
					valid: error === undefined,
					problems: error?.details.problems ?? [],
					error: error === undefined ? null : errorDocument(error),
				})),
			},
			text: judged.map(line).join("\n"),
			exit: wrong === 0 ? EXIT.ok : EXIT.failure,
		};
	},
});

function everything(place: Place): Judged[] {
	const { extensions, profiles, broken } = known(place);
	return [...broken, ...extensions.map((id) => judge(id, place)), ...profiles.map((id) => judge(id, place))];
}

/** What the search path holds; where it cannot even be listed, that is the finding. */
function known({ search }: Place): { extensions: string[]; profiles: string[]; broken: Judged[] } {
	const broken: Judged[] = [];
	const listed = (kind: Judged["kind"], list: () => readonly { readonly id: string }[]): string[] => {
		try {
			return list().map(({ id }) => id);
		} catch (thrown) {
			broken.push({ kind, name: `all ${kind}s`, error: SandboxerError.from(thrown) });
			return [];
		}
	};
	return {
		extensions: listed("extension", () => loadExtensions(search)),
		profiles: listed("profile", () => listProfiles(search)),
		broken,
	};
}

function judge(word: string, place: Place): Judged {
	const kind = basename(word).startsWith("ext.") ? "extension" : "profile";
	try {
		if (kind === "profile") loadProfile(word, { ...place.search, cwd: place.folder });
		else judgeExtension(word, place);
		return { kind, name: word, error: undefined };
	} catch (thrown) {
		return { kind, name: word, error: SandboxerError.from(thrown) };
	}
}

function judgeExtension(word: string, place: Place): void {
	if (!/\/|\.ya?ml$/.test(word)) {
		place.open(word);
		return;
	}
	const file = resolve(place.folder, word);
	const id = basename(file).replace(/\.ya?ml$/, "");
	const [key, folders] = ["sandboxer:extensionPath", place.settings["sandboxer:extensionPath"]];
	const settings = { ...place.settings, [key]: [folders, dirname(file)].filter(Boolean).join(":") };
	const beside = new Place(place.folder, settings, undefined, [], place.signal);
	const found = findExtension(id, beside.search);
	if (found.file !== file) {
		throw new SandboxerError({
			code: "invalid",
			message: `${word} was not found as the declaration of ${id}: that is ${found.file}.`,
			hint: "The file's name is ext.<name>.yaml.",
		});
	}
	beside.open(id);
}

function line({ kind, name, error }: Judged): string {
	if (error === undefined) return `ok       ${kind} ${printable(name)}`;
	const lines = error.text.split("\n").map((text) => `         ${printable(text)}`);
	return [`problem  ${kind} ${printable(name)}`, ...lines].join("\n");
}
