import { defineCommand } from "../command-line/command";
import { errorDocument } from "../output/report";
import { table } from "../output/table";
import { findingRow, findings } from "../place/findings";
import { WHERE } from "../place/options";
import { Place } from "../place/place";

export const inventory = defineCommand({
	name: "inventory",
	summary: "Lists what was left behind: what no sandbox accounts for, or its sandbox has outlived",
	about:
		"orphan_dir: a folder without a record. zombie_record: a record whose sandbox does not run. aged_dir: a create that was\nnever finished, or a lease long over. orphan_process: a process without a record. ACTION is reap (removing it harms\nnothing), inspect (look first) or ignore (it will be gone by itself). Looks only; of --stack it takes the settings.",
	arguments: [],
	options: WHERE,
	examples: [["sandboxer inventory --json", "for a monitor: an empty list of findings is what it wants to see"]],
	async run(invocation) {
		const { found, failures } = await findings(await Place.of(invocation));
		return {
			document: {
				findings: found.map(({ extension, finding }) => ({ extension: extension.declaration.id, ...finding })),
				failures: failures.map(errorDocument),
			},
			text: table(
				["EXTENSION", "KIND", "WHAT", "SANDBOX", "ACTION", "REASON"],
				found.map(findingRow),
				failures.length === 0 ? "Nothing was left behind." : "Nothing was left behind where there was an answer.",
			),
			failures,
		};
	},
});
