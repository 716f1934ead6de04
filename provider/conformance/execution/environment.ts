import assert from "node:assert/strict";
import type { Case } from "../case";
import { rejected, same } from "../judgement";
import { check, prints, refuses, TOUCH } from "./rows";

/** What a command may have without being given it. */
const ALLOWED = ["PATH", "HOME", "LANG", "TERM", "PWD", "SHLVL", "_"];

const VALUES: Readonly<Record<string, string>> = {
	PLAIN: "asdf",
	SPACED: "two words",
	QUOTED: 'it\'s "so"',
	MULTILINE: "-----BEGIN KEY-----\nabc\n-----END KEY-----\n",
	EMPTY: "",
	lower_case: "1",
	UNICODE: "naïve 日本 🙂",
	EXPANDED: "$HOME `id` $(id) \\n %s",
	LONG: "x".repeat(100_000),
};

const LIKE_A_WRAPPERS = ["program", "folder", "answer", "name", "path", "command", "args", "i", "PS1", "MAIL", "USER"];

const NO_NAMES = ["1ABC", "A-B", "A=B", "A B", "", "BASH_FUNC_x%%", "Ä", "A\nB"];

/** What a loader, a shell or an interpreter obeys before the command's own code runs. */
const OBEYED = [
	"LD_PRELOAD",
	"LD_LIBRARY_PATH",
	"LD_AUDIT",
	"GLIBC_TUNABLES",
	"GCONV_PATH",
	"BASH_ENV",
	"ENV",
	"IFS",
	"SHELLOPTS",
	"PS4",
	"NODE_OPTIONS",
	"PYTHONPATH",
	"PYTHONSTARTUP",
	"PERL5OPT",
	"PERL5LIB",
	"RUBYOPT",
	"JAVA_TOOL_OPTIONS",
];

export const ENVIRONMENT: readonly Case[] = [
	{
		name: "gives a command only what is on the list, and nothing of the caller's",
		run: async (bench) => {
			const words = (await bench.sh("env -0")).split("\0").filter((word) => word !== "");
			const names = words.map((word) => word.split("=")[0] ?? "");
			same(
				names.filter((name) => !ALLOWED.includes(name)),
				[],
			);
			assert.doesNotMatch(words.join("\n"), /canary|evil/);
			assert.ok(names.includes("PATH") && names.includes("HOME"), names.join());
			const { PATH, HOME } = process.env;
			const own = { PATH, HOME, ...bench.adapter.environment };
			assert.ok(!words.includes(`HOME=${own.HOME}`), "the caller's HOME");
		},
	},
	prints("shows no canary in /proc/1/environ", "cat /proc/1/environ 2>&1 | grep -c '[c]anary' || :", "0\n"),
	prints(
		"shows no canary in any environment or command line that can be read inside",
		"cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '[c]anary-' || :",
		"0\n",
	),
	...Object.entries(VALUES).map(([name, value]) =>
		prints(`hands on a variable byte for byte: ${name}`, `printf %s "$${name}"; [ "\${${name}+set}" ]`, value, {
			executionContext: { env: { [name]: value } },
		}),
	),
	prints(
		"hands on variables that have the names of a wrapper's own",
		"env | grep -c =kept$",
		`${LIKE_A_WRAPPERS.length}\n`,
		{
			executionContext: { env: Object.fromEntries(LIKE_A_WRAPPERS.map((name) => [name, "kept"])) },
		},
	),
	{
		name: "finds programs on the PATH that the command is given",
		run: async (bench) => {
			const executionContext = { env: { PATH: "/workspace/bin" } };
			await bench.sh(
				"mkdir /workspace/bin && printf '#!/bin/sh\\necho ours\\n' >/workspace/bin/ours && chmod 755 /workspace/bin/ours",
			);
			check(await bench.execute(["ours"], { executionContext }), { stdout: "ours\n" });
			check(await bench.execute(["/usr/bin/env"], { executionContext }), { stdout: /^PATH=\/workspace\/bin$/m });
			await rejected(bench.execute(["env"], { executionContext }), { code: "not-started", names: ["/workspace/bin"] });
			await bench.sh("rm -r /workspace/bin");
		},
	},
	prints("gives a variable to its command alone", 'echo "${ONLY_ONE-unset}"', "one\n", {
		executionContext: { env: { ONLY_ONE: "one" } },
	}),
	prints("keeps no variable of an earlier command", 'echo "${ONLY_ONE-unset}"', "unset\n"),
	...NO_NAMES.map((name) =>
		refuses(
			`a variable that cannot be one: ${JSON.stringify(name)}`,
			TOUCH,
			{ code: "invalid", names: [`executionContext.env.${name}`] },
			{ executionContext: { env: { [name]: "canary-value" } } },
		),
	),
	...OBEYED.map((name) =>
		refuses(
			`a variable that is obeyed before the command: ${name}`,
			TOUCH,
			{ code: "invalid", names: [`executionContext.env.${name}`] },
			{ executionContext: { env: { [name]: "canary-value" } } },
		),
	),
	refuses(
		"a NUL in a value",
		TOUCH,
		{ code: "invalid", names: ["executionContext.env.A"] },
		{ executionContext: { env: { A: "canary-\0" } } },
	),
	refuses(
		"a value that is longer than a variable can be",
		TOUCH,
		{ code: "invalid", names: ["executionContext.env.A"] },
		{ executionContext: { env: { A: "canary-".repeat(30_000) } } },
	),
];
