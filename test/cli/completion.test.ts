import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../../cli/commands";
import { BIN, Desk } from "./support/desk";

const NAMES = COMMANDS.map(({ name }) => name).sort();

function onPath(program: string): boolean {
	return (process.env["PATH"] ?? "").split(":").some((folder) => existsSync(join(folder, program)));
}

describe("completion", () => {
	const desk = new Desk();
	beforeAll(async () => {
		// As a user has it: `sandboxer` on PATH, with the settings that make ext.paper known.
		mkdirSync(join(desk.folder, "bin"));
		const settings = desk.config.map((word) => `'${word}'`).join(" ");
		const program = join(desk.folder, "bin", "sandboxer");
		writeFileSync(program, `#!/bin/sh\ncommand=$1\nshift\nexec node '${BIN}' "$command" ${settings} "$@"\n`);
		chmodSync(program, 0o755);
		desk.box("box-1");
		desk.box("box-2");
		for (const shell of ["bash", "zsh", "fish"]) {
			const { code, stdout } = await desk.run(["completion", shell]);
			expect(code).toBe(0);
			writeFileSync(join(desk.folder, shell), stdout);
		}
	});
	afterAll(() => desk.dispose());

	const shell = (program: string, args: readonly string[]) =>
		execFileSync(program, args, {
			encoding: "utf8",
			cwd: desk.folder,
			env: { ...desk.env, PATH: `${join(desk.folder, "bin")}:${desk.env["PATH"]}` },
		})
			.split("\n")
			.filter((word) => word !== "")
			.sort();

	/** What bash offers for the last word. */
	function bash(...words: string[]): string[] {
		const script = `
			source ./bash
			COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
			_sandboxer
			((\${#COMPREPLY[@]} == 0)) || printf '%s\\n' "\${COMPREPLY[@]}"
		`;
		return shell("bash", ["--norc", "-euc", script, "bash", "sandboxer", ...words]);
	}

	it("bash: commands", () => {
		expect(bash("")).toEqual(NAMES);
		expect(bash("ex")).toEqual(["exec", "expire", "explain", "extend"]);
	});

	it.each(COMMANDS.map(({ name, options }) => [name, Object.keys(options)] as const))(
		"bash: options of %s",
		(name, options) => {
			const expected = [...options, "help", "json"].map((option) => `--${option}`).sort();
			expect(bash(name, "-")).toEqual(expected);
		},
	);

	it("bash: sandboxes, profiles and extensions as they are", () => {
		expect(bash("show", "")).toEqual(["box-1", "box-2"]);
		expect(bash("exec", "--detach", "box-2")).toEqual(["box-2"]);
		expect(bash("explain", "")).toEqual(["agent-dev", "bwrap-local", "paper"]);
		expect(bash("list", "--extension", "")).toEqual(["ext.bwrap", "ext.paper"]);
		expect(bash("list", "-x", "ext.p")).toEqual(["ext.paper"]);
	});

	it("bash: fixed words, files, and the commands after help", () => {
		expect(bash("exec", "--user", "")).toEqual(["root", "sandbox"]);
		expect(bash("completion", "")).toEqual(["bash", "fish", "zsh"]);
		expect(bash("list", "-C", "./pa")).toEqual(["./paper"]);
		expect(bash("help", "sh")).toEqual(["show"]);
	});

	it("bash: nothing after -- nor where a value of any kind may stand", () => {
		expect(bash("exec", "box-1", "--", "")).toEqual([]);
		expect(bash("exec", "box-1", "--", "cat", "-")).toEqual([]);
		expect(bash("exec", "--timeout", "")).toEqual([]);
	});

	it("bash: shellcheck has nothing to say", () => {
		if (onPath("shellcheck")) expect(shell("shellcheck", ["-s", "bash", "bash"])).toEqual([]);
	});

	(onPath("zsh") ? it : it.skip)("zsh: reads its script and offers the commands (needs zsh)", () => {
		const script = "autoload -U compinit; compinit -u -D; source ./zsh; print -l $_comps[sandboxer]";
		expect(shell("zsh", ["-fc", script])).toEqual(["_sandboxer"]);
	});

	(onPath("fish") ? it : it.skip)("fish: offers commands, options and sandboxes (needs fish)", () => {
		const fish = (line: string) =>
			shell("fish", ["--no-config", "-c", `source ./fish; complete -C '${line}' | cut -f1`]);
		expect(fish("sandboxer ")).toEqual(NAMES);
		expect(fish("sandboxer show ")).toEqual(["box-1", "box-2"]);
		expect(fish("sandboxer exec --det")).toEqual(["--detach"]);
	});

	it("a shell that is not known is refused", async () => {
		const { code, stderr } = await desk.run(["completion", "tcsh"]);
		expect([code, stderr]).toEqual([2, expect.stringContaining('There is no completion for "tcsh".')]);
	});
});
