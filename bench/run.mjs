/**
 * `npm run bench`: measures the built package and holds the figures against their limits. What each figure
 * is stands in docs/benchmarks.md.
 */
import { parseArgs } from "node:util";
import { bwrap } from "./bwrap/index.mjs";
import { exec } from "./exec/index.mjs";
import { FULL, QUICK } from "./harness/counts.mjs";
import { printJson, printTable } from "./harness/report.mjs";
import { Workbench } from "./harness/workbench.mjs";
import { snapshot } from "./snapshot/index.mjs";

/** Group → part → measurement. */
const GROUPS = { bwrap, exec, snapshot };

const USAGE = `Usage: npm run --silent bench -- [GROUP[/PART] ...] [options]

Groups and their parts (without any, all run):
${Object.entries(GROUPS)
	.map(([group, parts]) => `  ${group}: ${Object.keys(parts).join(", ")}`)
	.join("\n")}

  --json       print [{name, value, limit, holds}] and nothing else
  --quick      few repetitions: for trying it out
  --pairs N    repetitions of what takes milliseconds (${FULL.pairs}; quick ${QUICK.pairs})
  --rounds N   repetitions of what runs pulumi, or takes as long (${FULL.rounds}; quick ${QUICK.rounds})

The exit status is 0 whether or not the limits hold; 1 where something could not be measured.`;

class UsageError extends Error {}

function readArguments() {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			json: { type: "boolean", default: false },
			quick: { type: "boolean", default: false },
			pairs: { type: "string" },
			rounds: { type: "string" },
			help: { type: "boolean", default: false },
		},
	});
	const counts = values.quick ? QUICK : FULL;
	return {
		...values,
		counts: {
			...counts,
			pairs: count("--pairs", values.pairs) ?? counts.pairs,
			rounds: count("--rounds", values.rounds) ?? counts.rounds,
		},
		parts: (positionals.length === 0 ? Object.keys(GROUPS) : positionals).flatMap(chosen),
	};
}

function count(option, text) {
	if (text === undefined) return undefined;
	if (!/^[1-9][0-9]{0,3}$/.test(text)) throw new UsageError(`${option} takes a number from 1 to 9999, not "${text}".`);
	return Number(text);
}

function chosen(word) {
	const [group = "", part] = word.split("/");
	const parts = Object.hasOwn(GROUPS, group) ? GROUPS[group] : undefined;
	if (parts === undefined || (part !== undefined && !Object.hasOwn(parts, part)))
		throw new UsageError(`There is no "${word}".`);
	return Object.entries(parts)
		.filter(([name]) => part === undefined || name === part)
		.map(([name, measure]) => ({ name: `${group}/${name}`, measure }));
}

let options;
try {
	options = readArguments();
} catch (thrown) {
	console.error(`${thrown.message}\n\n${USAGE}`);
	process.exit(1);
}
if (options.help) {
	console.log(USAGE);
	process.exit(0);
}

const figures = [];
const workbench = Workbench.open();
try {
	for (const { name, measure } of options.parts) {
		try {
			figures.push(...(await measure(workbench, options.counts)));
		} catch (thrown) {
			if (workbench.isClosing) break;
			console.error(`${name} could not be measured: ${thrown?.stack ?? thrown}`);
			process.exitCode = 1;
		}
	}
} finally {
	await workbench.close();
}
// After a Ctrl-C the process ends by itself.
if (!workbench.isInterrupted) (options.json ? printJson : printTable)(figures);
