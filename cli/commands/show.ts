import type { Ready } from "../../provider/contract";
import { SandboxerError } from "../../provider/errors";
import { defineCommand } from "../command-line/command";
import { EXIT } from "../command-line/exit";
import { errorDocument } from "../output/report";
import { nowThere, ownerText, sandboxDocument, stateOf } from "../output/sandbox";
import { facts, rows } from "../output/table";
import { moment } from "../output/times";
import { type Found, findOne } from "../place/find";
import { WHERE } from "../place/options";
import { LOOK_SECONDS, Place } from "../place/place";

export const show = defineCommand({
	name: "show",
	summary: "Shows one sandbox, and proves its controls again",
	about:
		"Looks once, as pulumi refresh does: the controls are probed inside. The exit status is 0 only where it can be used.\nCredentials are never shown: they are an output of the stack.",
	arguments: [{ name: "NAME", optional: true, complete: "sandboxes" }],
	options: WHERE,
	examples: [
		["sandboxer show box-3f2a9c01d4e5", "by its id"],
		["sandboxer show box --stack dev", "by its resource's name in stack dev"],
		["pulumi stack output --json | sandboxer show -", "the one whose handle is among the outputs"],
	],
	async run({ words: [name], streams, now, ...invocation }) {
		const place = await Place.of(invocation);
		const found = await findOne(place, name, streams);
		const seen = await look(found, place);
		const problem = seen instanceof SandboxerError ? seen : undefined;
		const ready = seen instanceof SandboxerError ? undefined : seen;
		return {
			document: {
				sandbox: { ...sandboxDocument(found, now()), ...state(ready) },
				reachability: ready?.reachability ?? null,
				workspaceDir: ready?.workspaceDir ?? null,
				lease: ready?.lease ?? null,
				controls: ready?.controls ?? null,
				problem: problem === undefined ? null : errorDocument(problem),
			},
			text: [sheet(found, ready, now()), ...controls(ready)].join("\n"),
			...(problem === undefined ? {} : { failures: [problem], exit: exitOf(problem) }),
		};
	},
});

/** Without the credentials. */
async function look({ extension, handle }: Found, place: Place): Promise<Omit<Ready, "credentials"> | SandboxerError> {
	try {
		const { credentials: _secret, ...ready } = await extension.waitReady(handle, place.call(LOOK_SECONDS));
		return ready;
	} catch (thrown) {
		return SandboxerError.from(thrown);
	}
}

/** A sandbox that was seen ready is, also where its extension cannot find any. */
function state(ready: object | undefined) {
	return ready === undefined ? {} : { state: "ready" as const };
}

function exitOf({ code }: SandboxerError): number {
	return code === "gone" ? EXIT.notFound : EXIT.failure;
}

function sheet(found: Found, ready: Omit<Ready, "credentials"> | undefined, now: number): string {
	const { handle, located, urn } = found;
	return facts({
		sandbox: handle.sandbox_id,
		extension: handle.extension,
		...{ state: stateOf(found, now), ...state(ready) },
		profile: located && `${located.profile.id} (version ${located.profile.version})`,
		owner: located && `${ownerText(located.owner)} (${located.owner.urn})`,
		resource: urn === located?.owner.urn ? undefined : urn,
		consumer: located?.consumer && `${located.consumer.actor}, ${located.consumer.project}`,
		labels: labels(located?.labels),
		created: located && moment(located.createdAt, now),
		ready: ready && moment(ready.lease.readyAt, now),
		ends: moment(ready?.lease.expiresAt ?? located?.expiresAt, nowThere(found, now)),
		clock: clock(located?.clockAheadSeconds),
		host: handle.host,
		workspace: ready?.workspaceDir,
		ssh: ready?.reachability.ssh,
	});
}

/** Where the two clocks differ by more than a rounding. */
function clock(aheadSeconds = 0): string | undefined {
	if (Math.abs(aheadSeconds) < 2) return undefined;
	const [length, side] = [Math.abs(aheadSeconds), aheadSeconds > 0 ? "ahead of" : "behind"];
	return `this machine's is ${length} s ${side} the one that decides on the lease`;
}

function labels(known: Readonly<Record<string, string>> = {}): string | undefined {
	const all = Object.entries(known).map(([key, value]) => `${key}=${value}`);
	return all.length === 0 ? undefined : all.join(", ");
}

function controls(ready: Omit<Ready, "credentials"> | undefined): string[] {
	if (ready === undefined) return [];
	return [
		"controls:",
		...rows(Object.entries(ready.controls).map(([name, { status, note }]) => [`  ${name}`, status, note])),
	];
}
