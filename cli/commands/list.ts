import { defineCommand } from "../command-line/command";
import { errorDocument } from "../output/report";
import { nowThere, ownerText, sandboxDocument, stateOf } from "../output/sandbox";
import { table } from "../output/table";
import { moment } from "../output/times";
import { findAll } from "../place/find";
import { WHERE } from "../place/options";
import { Place } from "../place/place";

const HEAD = ["SANDBOX", "EXTENSION", "STATE", "ENDS", "PROFILE", "OWNER"];

export const list = defineCommand({
	name: "list",
	summary: "Lists the sandboxes of this machine, or of a stack",
	about: "STATE is ready, provisioning, expired (its lease is over), gone (it does not run) or unknown. Looks only.",
	arguments: [],
	options: WHERE,
	examples: [
		["sandboxer list", "all sandboxes that the self-hosted extensions find"],
		["sandboxer list --stack dev --json", "those in the state of stack dev, as JSON"],
	],
	async run({ now, ...invocation }) {
		const { found, failures } = await findAll(await Place.of(invocation));
		const rows = found.map((one) => [
			one.handle.sandbox_id,
			one.handle.extension,
			stateOf(one, now()),
			moment(one.located?.expiresAt, nowThere(one, now()), ""),
			one.located?.profile.id ?? "",
			ownerText(one.located?.owner),
		]);
		return {
			document: {
				sandboxes: found.map((one) => sandboxDocument(one, now())),
				failures: failures.map(errorDocument),
			},
			text: table(HEAD, rows, failures.length === 0 ? "No sandboxes." : "No sandboxes where there was an answer."),
			failures,
		};
	},
});
