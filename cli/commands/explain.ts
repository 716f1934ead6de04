import { defineCommand } from "../command-line/command";
import { EXIT } from "../command-line/exit";
import { facts, rows } from "../output/table";
import { type Binding, bind, inputsOf } from "../place/binding";
import { WHERE } from "../place/options";
import { Place } from "../place/place";

export const explain = defineCommand({
	name: "explain",
	summary: "Says what a profile makes: extension, bounds, lease, controls, cost",
	about:
		"As pulumi preview does, without a program; touches nothing. PROFILE is a name or a path. The exit status is 1 where such\na sandbox would be refused, and the problems are told. Of --stack it takes the settings.",
	arguments: [{ name: "PROFILE", complete: "profiles" }],
	options: {
		...WHERE,
		ttl: { type: "string", value: "DURATION", about: "A lease to ask for" },
		input: {
			type: "string",
			multiple: true,
			value: "KEY=VALUE",
			about: "An input of the extension, such as repo=./app",
		},
	},
	examples: [
		["sandboxer explain agent-dev", "what the profile of that name makes"],
		[
			"sandboxer explain ./profile.ci.yaml --ttl 8h --input repo=.",
			"a profile of one's own, asked for as a program would",
		],
	],
	async run({ words: [reference = ""], values, ...invocation }) {
		const place = await Place.of({ values, ...invocation });
		const { ttl, input } = values;
		const binding = bind(place, { profile: reference, sandboxId: "example", ttl, inputs: inputsOf(input), labels: {} });
		const { checked, extension, loaded } = binding;
		const { inputs, problems, notes } = checked;
		const refused = problems.length > 0;
		return {
			document: {
				profile: loaded.profile,
				source: loaded.source,
				extension: extension.declaration.id,
				handler: { file: loaded.declaration?.file ?? null, capabilities: extension.declaration.capabilities },
				binding: refused
					? null
					: { network: inputs.network, resources: inputs.resources, inputs: inputs.inputs, ttl: inputs.ttl },
				route: refused ? null : inputs.route,
				quote: refused ? null : inputs.quote,
				controls: extension.plannedControls(loaded.profile),
				notes,
				problems,
			},
			text: text(binding),
			...(refused ? { exit: EXIT.failure } : {}),
		};
	},
});

function text({ loaded: { profile, source }, extension, checked: { inputs, problems, notes } }: Binding): string {
	const { network, resources, quote } = inputs as {
		network?: typeof profile.network;
		resources?: { cpu?: number; memoryMb?: number };
		quote?: { pricing?: string; perHourUsd?: number; forLeaseUsd?: number };
	};
	const { ttl, isolation, workspace, setup } = profile;
	const refs = (setup?.secret_refs ?? []).map((ref) => (typeof ref === "string" ? ref : ref.ref));
	return [
		facts({
			profile: `${profile.id} (version ${profile.version}, ${source})`,
			extension: `${extension.declaration.id} (${extension.declaration.title})`,
			isolation: isolation.level,
			network:
				network && `${network.default}${network.egress === undefined ? "" : ` but ${network.egress.join(", ")}`}`,
			cpu: resources?.cpu?.toString(),
			memory: resources?.memoryMb === undefined ? undefined : `${resources.memoryMb} MiB`,
			workspace: `${workspace.mode}, ${workspace.access}`,
			credentials: refs.length === 0 ? undefined : refs.join(", "),
			lease: `${String(inputs.ttl ?? ttl.default)} (default ${ttl.default}, at most ${ttl.max})`,
			cost: quote && `${quote.pricing}: ${quote.perHourUsd} USD an hour, ${quote.forLeaseUsd} USD for the lease`,
			...Object.fromEntries(notes.map((note) => ["note", note])),
		}),
		"controls:",
		...rows(
			Object.entries(extension.plannedControls(profile)).map(([name, { status, note }]) => [`  ${name}`, status, note]),
		),
		...problems.map(({ field, reason }) => `refused: ${field} ${reason}`),
	].join("\n");
}
