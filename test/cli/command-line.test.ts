import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT_MEANINGS } from "../../cli/command-line/exit";
import { COMMANDS } from "../../cli/commands";
import { Desk } from "./support/desk";

const NAMES = COMMANDS.map(({ name }) => name);
const DOCS = readFileSync(join(__dirname, "../../docs/cli.md"), "utf8");

describe("the command line", () => {
	const desk = new Desk();
	afterAll(() => desk.dispose());

	it("without a command says what there is", async () => {
		const { code, stdout, stderr } = await desk.start([]).ended;
		expect([code, stderr]).toEqual([0, ""]);
		for (const name of NAMES) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, "m"));
		for (const [codes, meaning] of EXIT_MEANINGS) expect(stdout).toContain(`${codes}`.padEnd(15) + meaning);
	});

	it.each(NAMES)("help %s: usage, each option and examples, the same by --help", async (name) => {
		const command = COMMANDS.find((one) => one.name === name);
		const asked = await desk.start(["help", name]).ended;
		const option = await desk.start([name, "--help"]).ended;
		expect(asked).toEqual(option);
		expect(asked.code).toBe(0);
		for (const key of [...Object.keys(command?.options ?? {}), "json", "help"])
			expect(asked.stdout).toMatch(new RegExp(` --${key}\\b`));
		expect(command?.examples.length).toBeGreaterThan(0);
		for (const [line] of command?.examples ?? []) expect(asked.stdout).toContain(line);
	});

	it("help is a document too", async () => {
		const all = JSON.parse((await desk.start(["help", "--json"]).ended).stdout);
		expect(all.commands.map(({ name }: { name: string }) => name)).toEqual(NAMES);
		const one = JSON.parse((await desk.start(["help", "exec", "--json"]).ended).stdout);
		expect(one).toMatchObject({ name: "exec", options: { detach: { type: "boolean", short: "d" } } });
	});

	it.each([
		[["lsit"], 'There is no command "lsit"; did you mean "list"?'],
		[["list", "--jsno"], "sandboxer list has no option --jsno; did you mean --json?"],
		[["list", "box"], 'sandboxer list does not take "box".'],
		[["list", "--stack"], "--stack"],
		[["show"], "Which sandbox is not said."],
		[["explain"], "sandboxer explain needs PROFILE."],
		[["restore", "x"], "sandboxer restore needs --profile."],
		[["extend", "box"], '"box" is not a duration'],
		[["extend", "box", "2 hours"], '"2 hours" is not a duration'],
		[["snapshot", "box", "--keep", "1week"], '--keep "1week" is not a duration'],
		[["snapshot", "box", "--label", "x"], '--label "x" is not KEY=VALUE.'],
		[["list", "--config", "nothing"], '--config "nothing" is not KEY=VALUE.'],
		[["list", "--config", "secrets.DB=x"], "--config secrets would show a secret"],
		[["list", "--project-dir", "./nowhere"], '--project-dir "./nowhere" is not a folder.'],
	])("%j is refused with what was meant; status 2", async (args, message) => {
		const { code, stdout, stderr } = await desk.start(args).ended;
		expect([code, stdout]).toEqual([2, ""]);
		expect(stderr).toMatch(/^error: /);
		expect(stderr).toContain(message);
	});

	it.each([
		[["exec", "box"], "Which command to run is not said."],
		[["exec", "box", "--"], "Which command to run is not said."],
		[["exec", "--", "true"], "Which sandbox is not said."],
		[["exec", "--detahc", "box", "--", "true"], "did you mean --detach?"],
		[["exec", "--user", "me", "box", "--", "true"], '--user "me" is neither'],
		[["exec", "--env", "NOT_SET_HERE", "box", "--", "true"], "is not set here"],
		[["exec", "--timeout", "1", "box", "--", "true"], '--timeout "1" is not a duration'],
		[["exec", "--list", "--stop", "x00000000"], "--list and --stop do not go together."],
		[["exec", "--list", "box"], "--list takes no sandbox."],
		[["exec", "--stop", "x00000000", "--", "true"], "--stop takes no command."],
		[["exec", "--from", "1", "box", "--", "true"], "--from goes with --attach."],
		[["exec", "--attach", "x00000000", "--from", "-1"], "--from"],
		[["exec", "--attach", "x00000000", "--from", "1.5"], '--from "1.5" is no number of bytes.'],
		[["exec", "-i", "-", "--", "true"], "--interactive needs standard input"],
		[["exec", "-i", "-d", "box", "--", "true"], "--interactive needs standard input"],
	])("%j is refused with status 125, which no command of 2 can be taken for", async (args, message) => {
		const { code, stderr } = await desk.start(args).ended;
		expect(code).toBe(125);
		expect(stderr).toContain(message);
	});

	it("with --json an error is the document, and standard error stays empty", async () => {
		const { code, stdout, stderr } = await desk.start(["show", "--json", "--nonsense"]).ended;
		expect([code, stderr]).toEqual([2, ""]);
		expect(JSON.parse(stdout)).toEqual({
			error: {
				code: "invalid",
				message: "sandboxer show has no option --nonsense.",
				hint: "See: sandboxer help show.",
				details: {},
			},
		});
	});

	it("nobody reads the output: it ends with 141, without a word", async () => {
		const { child, ended } = desk.start(["help"]);
		child.stdout.destroy();
		await once(child, "close");
		expect(await ended).toEqual({ code: 141, stdout: "", stderr: "" });
	});

	it("npx finds it in the repository", () => {
		const said = execFileSync("npx", ["--no-install", "sandboxer", "help"], {
			cwd: join(__dirname, "../.."),
			encoding: "utf8",
		});
		expect(said).toMatch(/^sandboxer: finds, uses and ends sandboxes/);
	});

	it("docs/cli.md has every command, and the table of exit statuses as the command has it", () => {
		for (const name of NAMES) expect(DOCS).toMatch(new RegExp(`^## .*\`${name}\``, "m"));
		const table = DOCS.replaceAll(/ +/g, " ");
		for (const [codes, meaning] of EXIT_MEANINGS) expect(table).toContain(`| ${codes} | ${meaning} |`);
	});
});
