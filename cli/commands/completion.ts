import { listProfiles, loadExtensions } from "../../provider/registry";
import { defineCommand } from "../command-line/command";
import { bash, fish, zsh } from "../command-line/shells";
import { UsageError } from "../command-line/usage-error";
import { findAll } from "../place/find";
import { WHERE } from "../place/options";
import { Place } from "../place/place";

const SCRIPTS = { bash, zsh, fish } as const;
const SHELLS = ["bash", "zsh", "fish"] as const;

/** What the scripts ask for while a word is being typed. */
const WORDS = {
	sandboxes: async (place: Place) => (await findAll(place)).found.map(({ handle }) => handle.sandbox_id),
	profiles: async ({ search }: Place) => listProfiles(search).map(({ id }) => id.replace(/^profile\./, "")),
	extensions: async ({ search }: Place) => loadExtensions(search).map(({ id }) => id),
} as const;

export const completion = defineCommand({
	name: "completion",
	summary: "Prints a script that completes command lines, for bash, zsh or fish",
	about:
		"The scripts ask `sandboxer completion sandboxes`, `profiles` and `extensions` for the words there are, a line each.",
	arguments: [{ name: "SHELL", complete: SHELLS }],
	options: WHERE,
	examples: [
		["source <(sandboxer completion bash)", "in ~/.bashrc"],
		["sandboxer completion zsh >~/.zfunc/_sandboxer", "in a folder of fpath"],
		["sandboxer completion fish >~/.config/fish/completions/sandboxer.fish", "for fish"],
	],
	async run({ words: [asked = ""], commands, ...invocation }) {
		if (Object.hasOwn(WORDS, asked)) {
			const words = await WORDS[asked as keyof typeof WORDS](await Place.of(invocation));
			return { document: { words }, text: words.join("\n") };
		}
		if (!Object.hasOwn(SCRIPTS, asked))
			throw new UsageError(
				`There is no completion for ${JSON.stringify(asked)}.`,
				`There is for ${SHELLS.join(", ")}.`,
			);
		const script = SCRIPTS[asked as keyof typeof SCRIPTS](commands);
		return { document: { shell: asked, script }, text: script.trimEnd() };
	},
});
