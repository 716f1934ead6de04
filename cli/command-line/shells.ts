import type { Command, Completion, Option } from "./command";
import { COMMON } from "./parse";

/** What the scripts ask us for, while a word is being typed. */
function asked(completion: Completion): string | undefined {
	return typeof completion === "string" && completion !== "files" ? completion : undefined;
}

/** `--extension|-x`, or the like, of each option that takes a value. */
function valued({ options }: Command): (readonly [spellings: string[], option: Option])[] {
	return Object.entries(options)
		.filter(([, { type }]) => type === "string")
		.map(([name, option]) => [option.short === undefined ? [`--${name}`] : [`--${name}`, `-${option.short}`], option]);
}

function optionNames({ options }: Command): string[] {
	return Object.keys({ ...options, ...COMMON }).map((name) => `--${name}`);
}

/** Words for a command's own words; they are the same for each of them. */
function wordsOf({ name, arguments: [argument] }: Command, commands: readonly Command[]): Completion | undefined {
	return name === "help" ? commands.map((command) => command.name) : argument?.complete;
}

/** A script for bash 3.2 and later; needs nothing else. */
export function bash(commands: readonly Command[]): string {
	const offer = (completion: Completion | undefined): string => {
		if (completion === undefined) return ":";
		if (completion === "files") return '_sandboxer_offer "$(compgen -f -- "$word")"';
		const words = asked(completion);
		return words === undefined
			? `_sandboxer_offer '${(completion as readonly string[]).join(" ")}'`
			: `_sandboxer_offer "$("\${COMP_WORDS[0]}" completion ${words} 2>/dev/null)"`;
	};
	const values = commands.flatMap((command) =>
		valued(command).map(
			([spellings, { complete }]) =>
				`\t${spellings.map((spelling) => `${command.name}:${spelling}`).join(" | ")}) ${offer(complete)} && return ;;`,
		),
	);
	return `# bash completion of sandboxer: source <(sandboxer completion bash)
_sandboxer_offer() {
	# shellcheck disable=SC2207 # no word has a blank in it
	COMPREPLY=($(compgen -W "$1" -- "\${COMP_WORDS[COMP_CWORD]}"))
}

_sandboxer() {
	local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} index
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_sandboxer_offer '${commands.map(({ name }) => name).join(" ")}'
		return
	fi
	# What stands after -- is somebody else's command line.
	for ((index = 2; index < COMP_CWORD; index++)); do
		[[ \${COMP_WORDS[index]} != -- ]] || return 0
	done
	case \${COMP_WORDS[1]}:$before in
${values.join("\n")}
	esac
	case \${COMP_WORDS[1]}:$word in
${commands.map((command) => `\t${command.name}:-*) _sandboxer_offer '${optionNames(command).join(" ")}' ;;`).join("\n")}
${commands.map((command) => `\t${command.name}:*) ${offer(wordsOf(command, commands))} ;;`).join("\n")}
	esac
}

complete -F _sandboxer sandboxer
`;
}

export function zsh(commands: readonly Command[]): string {
	const offer = (completion: Completion | undefined): string => {
		if (completion === undefined) return ":";
		if (completion === "files") return "_files";
		const words = asked(completion);
		return words === undefined
			? `compadd -- ${(completion as readonly string[]).join(" ")}`
			: `compadd -- \${(f)"$(\${words[1]} completion ${words} 2>/dev/null)"}`;
	};
	const values = commands.flatMap((command) =>
		valued(command).map(
			([spellings, { complete }]) =>
				`\t(${spellings.map((spelling) => `${command.name}:${spelling}`).join("|")}) ${offer(complete)}; return ;;`,
		),
	);
	return `#compdef sandboxer
# zsh completion of sandboxer: into a folder of fpath, as _sandboxer
_sandboxer() {
	local -a commands=(
${commands.map(({ name, summary }) => `\t\t${quoted(`${name}:${summary}`)}`).join("\n")}
	)
	if ((CURRENT == 2)); then
		_describe command commands
		return
	fi
	# What stands after -- is somebody else's command line.
	((\${words[(i)--]} < CURRENT)) && return
	case \${words[2]}:\${words[CURRENT - 1]} in
${values.join("\n")}
	esac
	case \${words[2]}:\${words[CURRENT]} in
${commands.map((command) => `\t(${command.name}:-*) compadd -- ${optionNames(command).join(" ")} ;;`).join("\n")}
${commands.map((command) => `\t(${command.name}:*) ${offer(wordsOf(command, commands))} ;;`).join("\n")}
	esac
}

if [ "$funcstack[1]" = "_sandboxer" ]; then
	_sandboxer "$@"
else
	compdef _sandboxer sandboxer
fi
`;
}

export function fish(commands: readonly Command[]): string {
	const offer = (completion: Completion): string => {
		if (completion === "files") return "-F";
		const words = asked(completion);
		return words === undefined
			? `-a ${quoted((completion as readonly string[]).join(" "))}`
			: `-a '(sandboxer completion ${words} 2>/dev/null)'`;
	};
	const lines = commands.flatMap((command) => {
		const here = `complete -c sandboxer -n '__fish_seen_subcommand_from ${command.name}; and not contains -- -- (commandline -opc)'`;
		const words = wordsOf(command, commands);
		return [
			`complete -c sandboxer -n __fish_use_subcommand -a ${command.name} -d ${quoted(command.summary)}`,
			...(words === undefined ? [] : [`${here} ${offer(words)}`]),
			...Object.entries({ ...command.options, ...COMMON } as Command["options"]).map(
				([name, { short, type, about, complete }]) =>
					[
						`${here} -l ${name}`,
						...(short === undefined ? [] : [`-s ${short}`]),
						...(type === "string" ? [complete === "files" ? "-r" : "-x"] : []),
						...(complete === undefined ? [] : [offer(complete)]),
						`-d ${quoted(about)}`,
					].join(" "),
			),
		];
	});
	return `# fish completion of sandboxer: sandboxer completion fish | source\ncomplete -c sandboxer -f\n${lines.join("\n")}\n`;
}

/** A text as one word of zsh and fish alike. */
function quoted(text: string): string {
	return `'${text.replaceAll("\\", "\\\\").replaceAll("'", `'"'"'`)}'`;
}
