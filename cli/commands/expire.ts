import type { CleanupReport } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { defineCommand } from "../command-line/command";
import { remaining } from "../output/remains";
import { errorDocument } from "../output/report";
import { ownerText, sandboxDocument, stateOf } from "../output/sandbox";
import { table } from "../output/table";
import { moment } from "../output/times";
import { type Found, findAll } from "../place/find";
import { WHERE } from "../place/options";
import { CHANGE_SECONDS, LOOK_SECONDS, Place } from "../place/place";

/** What became of an overdue sandbox. `overdue`: nothing was done. `renewed`: its lease was extended meanwhile. */
type Outcome = "overdue" | "removed" | "renewed" | "gone" | "failed";

interface Swept {
	readonly found: Found;
	readonly outcome: Outcome;
	readonly report?: CleanupReport;
	readonly error?: SandboxerError;
}

export const expire = defineCommand({
	name: "expire",
	summary: "Lists sandboxes whose lease is over; --apply removes them",
	about:
		"A sandbox ends by itself where it lives; this removes what is left, and what did not. Each is read again just before\nit is removed: one whose lease was extended meanwhile stays. A create that never ended is stuck, not expired: see reap.",
	arguments: [],
	options: { ...WHERE, apply: { type: "boolean", about: "Remove them; without it nothing is touched" } },
	examples: [
		["sandboxer expire", "what is overdue"],
		["sandboxer expire --apply", "removes it; goes on after a failure, which the exit status tells"],
	],
	async run({ values, now, ...invocation }) {
		const place = await Place.of({ values, ...invocation });
		const { found, failures } = await findAll(place);
		const overdue = found.filter((one) => one.located !== undefined && stateOf(one, now()) === "expired");
		const swept: Swept[] = [];
		for (const one of overdue)
			swept.push(values.apply === true ? await sweep(one, place) : { found: one, outcome: "overdue" });
		const failed = swept.flatMap(({ error }) => (error === undefined ? [] : [error]));
		return {
			document: {
				applied: values.apply === true,
				overdue: swept.map(({ found: one, outcome, report, error }) => ({
					...sandboxDocument(one, now()),
					outcome,
					report: report ?? null,
					error: error === undefined ? null : errorDocument(error),
				})),
				failures: failures.map(errorDocument),
			},
			text: text(swept, values.apply === true, now()),
			failures: [...failures, ...failed],
		};
	},
});

async function sweep(found: Found, place: Place): Promise<Swept> {
	const { extension, handle } = found;
	try {
		if (place.signal.aborted) throw stopped(handle.sandbox_id);
		const lives = await extension.locate({ sandboxId: handle.sandbox_id }, place.call(LOOK_SECONDS));
		const life = lives.find((one) => one.handle.generation === handle.generation);
		if (life === undefined) return { found, outcome: "gone" };
		const fresh = { ...life.handle, extension: handle.extension };
		const report = await extension.expire(fresh, place.call(CHANGE_SECONDS));
		if (report === undefined) return { found, outcome: "renewed" };
		if (report.remains.length === 0) return { found, outcome: "removed", report };
		return { found, outcome: "failed", report, error: remaining(`Sandbox ${handle.sandbox_id}`, report.remains) };
	} catch (thrown) {
		return { found, outcome: "failed", error: SandboxerError.from(thrown) };
	}
}

function stopped(sandboxId: string): SandboxerError {
	return new SandboxerError({
		code: "aborted",
		message: `Sandbox ${sandboxId} was left alone: the sweep was stopped.`,
	});
}

function text(swept: readonly Swept[], applied: boolean, now: number): string {
	const rows = swept.map(({ found: { handle, located }, outcome }) => [
		handle.sandbox_id,
		handle.extension,
		moment(located?.expiresAt, now),
		outcome,
		ownerText(located?.owner),
	]);
	const shown = table(["SANDBOX", "EXTENSION", "ENDED", "OUTCOME", "OWNER"], rows, "Nothing is overdue.");
	return applied || rows.length === 0 ? shown : `${shown}\nNothing was touched; --apply removes them.`;
}
