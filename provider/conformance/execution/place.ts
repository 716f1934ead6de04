import type { Case } from "../case";
import { prints, refuses, runs, TOUCH } from "./rows";

const at = (cwd: string) => ({ executionContext: { cwd } });
const FOLDERS = ["deep/er", "with blank", "ünï🙂", "-dash", "line\nbreak", "..dots"];
const OUTSIDE = ["..", "/", "/etc", "/workspace/..", "/workspace/../etc", "deep/../../etc", "/workspaces", "\0"];

const asRoot = { executionContext: { user: "root" } } as const;

export const PLACE: readonly Case[] = [
	prints("starts in the workspace", "pwd", "/workspace\n"),
	{
		name: "starts in a folder of the workspace, by whatever name",
		run: async (bench) => {
			for (const folder of FOLDERS) {
				await runs("", ["mkdir", "-p", "--", folder], {}).run(bench);
				for (const cwd of [folder, `/workspace/${folder}`, `./${folder}/.`])
					await prints("", "pwd", `/workspace/${folder}\n`, at(cwd)).run(bench);
			}
		},
	},
	...OUTSIDE.map((cwd) =>
		refuses(`to start in ${JSON.stringify(cwd)}`, TOUCH, { code: "invalid", names: ["executionContext.cwd"] }, at(cwd)),
	),
	refuses(
		"to start in a folder that is not there",
		TOUCH,
		{ code: "not-started", names: ["not-there"] },
		at("not-there"),
	),
	{
		name: "does not start in a file",
		run: async (bench) => {
			await bench.sh("echo x >/workspace/a-file");
			await refuses("", TOUCH, { code: "not-started", names: ["a-file"] }, at("a-file")).run(bench);
		},
	},
	prints("runs as uid and gid 1000", "id -u; id -g; id -G", "1000\n1000\n1000\n"),
	prints("runs as the sandbox's root when asked to", "id -u; id -g", "0\n0\n", asRoot),
	refuses(
		"a user that it does not know",
		TOUCH,
		{ code: "invalid", names: ["executionContext.user", "nobody"] },
		{
			executionContext: { user: "nobody" as "root" },
		},
	),
	prints(
		"may write to its workspace, its home and /tmp",
		'for d in /workspace "$HOME" /tmp; do f=$(mktemp "$d/XXXXXX") && rm "$f" || exit 1; done',
		"",
	),
	{
		name: "may change as either user what the other has made",
		run: async (bench) => {
			await bench.sh("mkdir /workspace/shared && echo 1 >/workspace/shared/user");
			await bench.sh(
				"echo 2 >>/workspace/shared/user && mkdir /workspace/roots && echo 1 >/workspace/roots/root",
				asRoot,
			);
			await bench.sh("echo 2 >>/workspace/roots/root && rm -r /workspace/roots /workspace/shared");
		},
	},
	{
		name: "keeps what a command wrote for the next one",
		run: async (bench) => {
			await bench.sh("echo kept >/workspace/kept; echo kept >/tmp/kept");
			await prints("", "cat /workspace/kept /tmp/kept; rm /workspace/kept /tmp/kept", "kept\nkept\n").run(bench);
		},
	},
];
