import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { QUIET_ENVIRONMENT } from "../canaries";
import type { Case } from "../case";
import { rejected, same } from "../judgement";
import { check, prints, refuses, TOUCH } from "./rows";

const value = (ref: string) => QUIET_ENVIRONMENT[`SANDBOXER_SECRET_${ref}`] ?? "";
const withRefs = (...credentialRouteRefs: string[]) => ({ credentialRouteRefs });

export const CREDENTIALS: readonly Case[] = [
	prints(
		"gives a credential as the variable that its route names",
		'printf "%s|%s" "$DATABASE_URL" "${DB-unset}"',
		"canary-db|unset",
		withRefs("DB"),
	),
	prints("gives a credential as it is, whatever is in it", 'printf %s "$TOKEN"', value("TOKEN"), withRefs("TOKEN")),
	prints(
		"gives a credential that the profile declares",
		'printf %s "$DECLARED"',
		"canary-declared",
		withRefs("DECLARED"),
	),
	prints(
		"gives a credential as a file that only the command can read",
		"stat -c %a /run/secrets/deploy_key; cat /run/secrets/deploy_key",
		`400\n${value("KEY")}`,
		withRefs("KEY"),
	),
	prints("gives a credential of 60 000 bytes as a file", "cat /run/secrets/long.pem", value("LONG"), withRefs("LONG")),
	prints(
		"gives several at once, and one twice",
		'printf "%s " "$DATABASE_URL" "$DECLARED" "$(ls /run/secrets)"',
		"canary-db canary-declared deploy_key ",
		withRefs("DB", "KEY", "DECLARED", "DB"),
	),
	prints(
		"gives the same to the sandbox's root",
		'printf "%s " "$DATABASE_URL"; cat /run/secrets/deploy_key',
		`canary-db ${value("KEY")}`,
		{
			...withRefs("DB", "KEY"),
			executionContext: { user: "root" },
		},
	),
	prints(
		"gives none that was not asked for",
		'echo "${DATABASE_URL-unset} ${DECLARED-unset} $(ls /run/secrets 2>/dev/null | wc -l)"',
		"unset unset 0\n",
	),
	prints(
		"leaves a file of a credential unwritable",
		"echo x 2>/dev/null >/run/secrets/other; echo x 2>/dev/null >/run/secrets/deploy_key; ls /run/secrets",
		"deploy_key\n",
		withRefs("KEY"),
	),
	{
		name: "keeps a credential from every other command, while and after",
		run: async (bench) => {
			const first = await bench.begin(["sh", "-c", 'echo "$DATABASE_URL" >/dev/null; sleep 3'], withRefs("DB", "KEY"));
			const search =
				"ls /run/secrets 2>/dev/null; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/root/run/secrets/* 2>/dev/null | tr '\\0' '\\n' | grep '[c]anary-' || :";
			for (const user of ["sandbox", "root"] as const)
				for (let look = 0; look < 3; look++) assert.equal(await bench.sh(search, { executionContext: { user } }), "");
			first.abort();
			await first.result.catch(() => undefined);
			for (const user of ["sandbox", "root"] as const)
				assert.equal(await bench.sh(search, { executionContext: { user } }), "");
		},
	},
	{
		name: "puts a credential into no command line of this machine",
		run: async (bench) => {
			const refs = ["DB", "TOKEN", "KEY", "DECLARED"];
			const values = refs.map(value);
			const running = await bench.begin(["sleep", "3"], withRefs(...refs));
			let over = false;
			const end = () => {
				over = true;
			};
			void running.result.then(end, end);
			let looks = 0;
			try {
				while (!over) {
					same(
						commandLines().filter((line) => values.some((one) => line.includes(one))),
						[],
					);
					looks++;
					await new Promise((resolve) => setTimeout(resolve, 5));
				}
			} finally {
				running.abort();
			}
			check(await running.result, {});
			assert.ok(looks > 20, `only ${looks} looks`);
		},
	},
	{
		name: "leaves a credential in no file of the sandbox",
		run: async (bench) => {
			await bench.execute(["true"], withRefs("DB", "TOKEN", "KEY", "LONG"));
			const script = "grep -rls '[c]anary-' /workspace /tmp /run /dev/shm /var/tmp /home 2>/dev/null || :";
			assert.equal(await bench.sh(script, { executionContext: { user: "root" } }), "");
		},
	},
	refuses(
		"a credential that nobody routes, by its name",
		TOUCH,
		{ code: "invalid", names: ["NOPE"] },
		withRefs("DB", "NOPE"),
	),
	refuses(
		"a credential with a value but no route",
		TOUCH,
		{ code: "invalid", names: ["UNROUTED"] },
		withRefs("UNROUTED"),
	),
	refuses(
		"a credential without a value, by its name",
		TOUCH,
		{ code: "auth", names: ["VALUELESS"] },
		withRefs("DB", "VALUELESS"),
	),
	{
		name: "tells no credential in an error",
		run: async (bench) => {
			await rejected(bench.execute(["no-such-program"], withRefs("DB", "KEY")), {
				code: "not-started",
				names: ["no-such-program"],
			});
			await rejected(
				bench.execute(["true"], { ...withRefs("DB", "KEY"), executionContext: { cwd: "no-such-folder" } }),
				{
					code: "not-started",
					names: ["no-such-folder"],
				},
			);
		},
	},
];

/** Of all processes of this machine. */
function commandLines(): string[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.map((pid) => {
			try {
				return readFileSync(`/proc/${pid}/cmdline`, "utf8");
			} catch {
				return ""; // ended meanwhile
			}
		});
}
