import { SandboxerError } from "../../provider/errors";
import { DURATION_RULE, durationSeconds } from "../../provider/lease/duration";
import { defineCommand } from "../command-line/command";
import { UsageError } from "../command-line/usage-error";
import { moment } from "../output/times";
import { findOne } from "../place/find";
import { WHERE } from "../place/options";
import { CHANGE_SECONDS, Place } from "../place/place";

export const extend = defineCommand({
	name: "extend",
	summary: "Moves the end of a sandbox's lease",
	about:
		"DURATION counts from now: with 2h the sandbox has at least two more hours. A lease that lasts longer already stays\nas it is. With --by it is added to the present end. Never shortens. The profile's ttl.max, counted from when the\nsandbox was ready, is the limit; what was cut is said. In a program `ttl` counts from when it was ready.",
	arguments: [
		{ name: "NAME", optional: true, complete: "sandboxes" },
		{ name: "DURATION", optional: true },
	],
	options: {
		...WHERE,
		by: { type: "string", value: "DURATION", about: "Add this to the present end" },
	},
	examples: [
		["sandboxer extend box 2h", "box has at least two hours from now"],
		["sandboxer extend box --by 30m", "box ends half an hour later than it would have"],
		["sandboxer extend --stack dev 1h", "the only sandbox of stack dev"],
	],
	async run({ words, values, streams, now, ...invocation }) {
		const { name, duration } = request(words, values);
		const place = await Place.of({ values, ...invocation });
		const { extension, handle, located } = await findOne(place, name, streams);
		const before = located?.expiresAt;
		if (before === undefined) throw withoutLease(handle.sandbox_id);
		const from = values.by === undefined ? now() : Date.parse(before);
		const asked = new Date(from + duration * 1000).toISOString();
		const lasts = Date.parse(before) >= Date.parse(asked);
		const granted = lasts ? before : await extension.extendLease(handle, asked, place.call(CHANGE_SECONDS));
		const capped = Date.parse(granted) < Date.parse(asked);
		return {
			document: {
				sandboxId: handle.sandbox_id,
				extension: handle.extension,
				before,
				asked,
				expiresAt: granted,
				changed: granted !== before,
				capped,
			},
			text: [
				lasts
					? `${handle.sandbox_id} lasts longer already: it ends ${moment(granted, now())}.`
					: `${handle.sandbox_id} ends ${moment(granted, now())}.`,
				...(capped ? [`Capped: ${moment(asked, now())} is beyond the profile's ttl.max.`] : []),
			].join("\n"),
		};
	},
});

function request(words: readonly string[], { by }: { readonly by?: string }) {
	// A duration is never a sandbox of a stack: `extend --stack dev 2h`.
	const given = by === undefined ? words.at(-1) : by;
	const names = by === undefined ? words.slice(0, -1) : words;
	if (given === undefined) throw new UsageError("How long is not said.", "Give a duration, such as 2h, or --by 30m.");
	const duration = durationSeconds(given);
	if (duration === undefined || names.length > 1)
		throw new UsageError(`${JSON.stringify(duration === undefined ? given : words.at(-1))} ${DURATION_RULE}.`);
	return { name: names[0], duration };
}

function withoutLease(sandboxId: string): SandboxerError {
	return new SandboxerError({
		code: "unknown",
		message: `The end of sandbox ${sandboxId}'s lease is not known: it is not ready yet, or not there any more.`,
		hint: "sandboxer show says more.",
		details: { sandbox_id: sandboxId },
	});
}
