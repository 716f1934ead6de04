import { sandboxIdSchema } from "../../provider/documents/words";
import { defineCommand } from "../command-line/command";
import { duration } from "../command-line/duration";
import { UsageError } from "../command-line/usage-error";
import { SNAPSHOT_HEAD, snapshotRow } from "../output/snapshot";
import { table } from "../output/table";
import { pairs } from "../place/binding";
import { findOne } from "../place/find";
import { WHERE } from "../place/options";
import { Place } from "../place/place";

export const snapshot = defineCommand({
	name: "snapshot",
	summary: "Takes a snapshot of a sandbox's workspace; the sandbox goes on",
	about: "It outlives the sandbox. What changed while it was read is kept, marked and said: CONSISTENT is then no.",
	arguments: [{ name: "NAME", optional: true, complete: "sandboxes" }],
	options: {
		...WHERE,
		id: { type: "string", value: "ID", about: "Its id (default: the sandbox's and the time)" },
		keep: { type: "string", value: "DURATION", about: "How long it is kept (default: until somebody removes it)" },
		label: { type: "string", multiple: true, value: "KEY=VALUE", about: "A label of it" },
		timeout: { type: "string", value: "DURATION", about: "How long it may take (default: 30m)" },
	},
	examples: [
		["sandboxer snapshot box", "prints its id"],
		["sandboxer snapshot box --keep 7d --label why=before-upgrade", "kept for a week"],
	],
	async run({ words: [name], values, streams, now, ...invocation }) {
		const keep = values.keep === undefined ? undefined : duration("keep", values.keep);
		const timeoutSeconds = duration("timeout", values.timeout ?? "30m");
		const labels = pairs("label", values.label);
		const place = await Place.of({ values, ...invocation });
		const { extension, handle } = await findOne(place, name, streams);
		const meta = await extension.snapshot(handle, {
			...place.call(timeoutSeconds),
			snapshotId: values.id === undefined ? idOf(handle.sandbox_id, now()) : given(values.id),
			labels,
			...(keep === undefined ? {} : { keepSeconds: keep }),
		});
		return { document: { snapshot: meta }, text: table(SNAPSHOT_HEAD, [snapshotRow(meta, now())], "") };
	},
});

/** `box-20261001t120000`, which is a sandbox id's grammar, however long the sandbox's own is. */
function idOf(sandboxId: string, now: number): string {
	const time = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").toLowerCase();
	return `${sandboxId.slice(0, 63 - time.length - 1)}-${time}`;
}

function given(id: string): string {
	const parsed = sandboxIdSchema.safeParse(id);
	if (parsed.success) return parsed.data;
	throw new UsageError(`--id ${JSON.stringify(id)} ${parsed.error.issues[0]?.message}.`);
}
