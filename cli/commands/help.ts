import { defineCommand } from "../command-line/command";
import { EXIT_MEANINGS } from "../command-line/exit";
import { helpOf, overview, usage } from "../command-line/help";
import { named } from "../command-line/parse";

export const help = defineCommand({
	name: "help",
	summary: "Says what there is, or how one command is used",
	arguments: [{ name: "COMMAND", optional: true }],
	options: {},
	examples: [["sandboxer help exec", "how exec is used, with examples"]],
	async run({ words: [name], commands }) {
		if (name === undefined) {
			const known = commands.map((command) => ({
				name: command.name,
				summary: command.summary,
				usage: usage(command),
			}));
			const exitStatus = EXIT_MEANINGS.map(([status, meaning]) => ({ status, meaning }));
			return { document: { commands: known, exitStatus }, text: overview(commands) };
		}
		const command = named(name, commands);
		const { summary, about, arguments: words, options, examples } = command;
		return {
			document: {
				name,
				summary,
				usage: usage(command),
				about: about ?? null,
				arguments: words,
				options,
				examples: examples.map(([line, meaning]) => ({ line, meaning })),
			},
			text: helpOf(command),
		};
	},
});
