import type { CleanupReport } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { defineCommand } from "../command-line/command";
import { remaining } from "../output/remains";
import { errorDocument } from "../output/report";
import { table } from "../output/table";
import { type Found, findingRow, findings } from "../place/findings";
import { WHERE } from "../place/options";
import { CHANGE_SECONDS, Place } from "../place/place";

interface Reaped {
	readonly found: Found;
	readonly outcome: "left" | "removed" | "failed";
	readonly report?: CleanupReport;
	readonly error?: SandboxerError;
}

export const reap = defineCommand({
	name: "reap",
	summary: "Lists what removing harms nothing of what was left behind; --apply removes it",
	about:
		"Takes the findings of `sandboxer inventory` whose action is reap; with --all also those to inspect: look at them first.\nWhat will be gone by itself is never touched. Each is looked at again just before. Of --stack it takes the settings.",
	arguments: [],
	options: {
		...WHERE,
		apply: { type: "boolean", about: "Remove it; without it nothing is touched" },
		all: { type: "boolean", about: "Also what inventory says to inspect" },
	},
	examples: [
		["sandboxer reap", "what would be removed"],
		["sandboxer reap --apply", "removes it; goes on after a failure, which the exit status tells"],
	],
	async run({ values, ...invocation }) {
		const place = await Place.of({ values, ...invocation });
		const { found, failures } = await findings(place);
		const actions = values.all === true ? ["reap", "inspect"] : ["reap"];
		const reaped: Reaped[] = [];
		for (const one of found.filter(({ finding }) => actions.includes(finding.action)))
			reaped.push(values.apply === true ? await remove(one, place) : { found: one, outcome: "left" });
		const failed = reaped.flatMap(({ error }) => (error === undefined ? [] : [error]));
		return {
			document: {
				applied: values.apply === true,
				findings: reaped.map(({ found: { extension, finding }, outcome, report, error }) => ({
					extension: extension.declaration.id,
					...finding,
					outcome,
					report: report ?? null,
					error: error === undefined ? null : errorDocument(error),
				})),
				failures: failures.map(errorDocument),
			},
			text: text(reaped, values.apply === true),
			failures: [...failures, ...failed],
		};
	},
});

async function remove(found: Found, place: Place): Promise<Reaped> {
	const { extension, finding } = found;
	try {
		if (place.signal.aborted)
			throw new SandboxerError({ code: "aborted", message: `${finding.what} was left alone: the sweep was stopped.` });
		const report = await extension.reap(finding, place.call(CHANGE_SECONDS));
		if (report.remains.length === 0) return { found, outcome: "removed", report };
		return { found, outcome: "failed", report, error: remaining(finding.what, report.remains) };
	} catch (thrown) {
		return { found, outcome: "failed", error: SandboxerError.from(thrown) };
	}
}

function text(reaped: readonly Reaped[], applied: boolean): string {
	const rows = reaped.map(({ found, outcome }) => [...findingRow(found), outcome]);
	const head = ["EXTENSION", "KIND", "WHAT", "SANDBOX", "ACTION", "REASON", "OUTCOME"];
	const shown = table(head, rows, "Nothing to reap.");
	return applied || rows.length === 0 ? shown : `${shown}\nNothing was touched; --apply removes it.`;
}
