import { SandboxerError } from "../../provider/errors";
import { defineCommand } from "../command-line/command";
import { remaining } from "../output/remains";
import { CLI_SCOPE, ownerText } from "../output/sandbox";
import { type Found, findOne } from "../place/find";
import { WHERE } from "../place/options";
import { CHANGE_SECONDS, Place } from "../place/place";

export const remove = defineCommand({
	name: "remove",
	summary: "Removes a sandbox that the command line made",
	about:
		"For what `sandboxer restore` made. A sandbox of a stack is removed by pulumi destroy; with --force it is removed all\nthe same, and the next pulumi refresh shows that it is gone.",
	arguments: [{ name: "NAME", optional: true, complete: "sandboxes" }],
	options: { ...WHERE, force: { type: "boolean", about: "Also a sandbox that belongs to a stack" } },
	examples: [["sandboxer remove box-restored", "ends it and removes all of it"]],
	async run({ words: [name], values, streams, ...invocation }) {
		const place = await Place.of({ values, ...invocation });
		const found = await findOne(place, name, streams);
		const { extension, handle } = found;
		assertOurs(found, values.force === true);
		const report = await extension.teardown(handle, place.call(CHANGE_SECONDS));
		if (report.remains.length > 0) throw remaining(`Sandbox ${handle.sandbox_id}`, report.remains);
		return {
			document: { sandboxId: handle.sandbox_id, extension: handle.extension, report },
			text:
				report.found.length === 0
					? `${handle.sandbox_id} was already gone.`
					: `${handle.sandbox_id} was removed: ${report.removed.join(", ")}.`,
		};
	},
});

/** A handle alone does not say whose it is: then the sandbox counts as somebody's. */
function assertOurs({ handle, located }: Found, force: boolean): void {
	if (force || located?.owner.scope === CLI_SCOPE) return;
	throw new SandboxerError({
		code: "conflict",
		message: `Sandbox ${handle.sandbox_id} belongs to ${located === undefined ? "somebody who is not known" : ownerText(located.owner)}, not to the command line. It was not touched.`,
		hint: "Remove it with pulumi destroy in its stack; or, if that stack is lost, here with --force.",
		details: { sandbox_id: handle.sandbox_id },
	});
}
