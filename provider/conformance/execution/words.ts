import type { Case } from "../case";
import { refuses, runs, TOUCH } from "./rows";

const ECHO = ["sh", "-c", `for word do printf '%s\\0' "$word"; done`, "sh"];

/** Words that a shell, an option parser or a transport may change on the way. */
const VECTORS: Readonly<Record<string, readonly string[]>> = {
	"with blanks": ["a b", "c"],
	"that are empty": ["", "after-empty", ""],
	"that are patterns": ["*", "?", "[a-z]", "{a,b}"],
	"that a shell would replace": ["$HOME", "`id`", "$(id)", "${IFS}"],
	"that a shell would obey": ["semi;colon", "and&&and", "pipe|pipe", ">out", "<in", "&"],
	"with quotes and backslashes": ["it's", 'say "hi"', "back\\slash", "\\", "'"],
	"with line breaks and tabs": ["line1\nline2", "tab\there", "\n", "cr\r\n"],
	"that look like options": ["-n", "--", "-rf", "--help", "-c", "--args", "--bind"],
	"beyond ASCII": ["naïve", "日本", "🙂", "e\u0301"],
	"with a blank at the end": ["trailing space ", " leading"],
	"that mean something to a shell at a prompt": ["#notacomment", "~", "!history", "a=b"],
	"with control characters": ["\u0001\u001b[31m\u007f"],
	"of 100 KiB": ["x".repeat(100 * 1024)],
	"in great number": Array.from({ length: 5000 }, (_, index) => `word ${index}`),
};

export const WORDS: readonly Case[] = [
	...Object.entries(VECTORS).map(([kind, words]) =>
		runs(`hands on words ${kind}`, [...ECHO, ...words], { stdout: words.map((word) => `${word}\0`).join("") }),
	),
	runs("gives a program its own name as it was asked for", ["sh", "-c", "echo $0"], { stdout: "sh\n" }),
	{
		name: "finds a program by a path with blanks, line breaks and a leading dash in it",
		run: async (bench) => {
			const folder = "/workspace/-odd\n folder";
			await bench.sh(
				'mkdir "$folder" && printf "#!/bin/sh\\necho odd \\"\\$1\\"\\n" >"$folder/-x" && chmod 755 "$folder/-x"',
				{
					executionContext: { env: { folder } },
				},
			);
			await runs("", [`${folder}/-x`, "--y"], { stdout: "odd --y\n" }).run(bench);
			await runs("", ["./-x", "z"], { stdout: "odd z\n" }, { executionContext: { cwd: "./-odd\n folder" } }).run(bench);
		},
	},
	refuses("no words at all", [], { code: "invalid", names: ["command"] }),
	refuses("an empty first word", ["", ...TOUCH], { code: "invalid", names: ["command"] }),
	refuses("a NUL in a word", [...TOUCH, "a\0b"], { code: "invalid", names: ["command"] }),
	refuses("a word that is none", [...TOUCH, 5 as unknown as string], { code: "invalid", names: ["command"] }),
	refuses("one text instead of words", "touch /workspace/ran" as unknown as string[], {
		code: "invalid",
		names: ["command"],
	}),
	refuses("a shell's line instead of words: no shell is there", ["touch /workspace/ran"], {
		code: "not-started",
		names: ["touch /workspace/ran"],
	}),
	refuses(
		"more words than one command line holds",
		[
			...TOUCH,
			..."x"
				.repeat(40)
				.split("")
				.map((letter) => letter.repeat(120 * 1024)),
		],
		{
			code: "not-started",
			names: [],
		},
	),
];
