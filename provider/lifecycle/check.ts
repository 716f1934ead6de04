import type { Problem, Profile, SandboxExtension, SnapshotMeta } from "../contract";
import { parseAroundUnknowns } from "../documents/parse-around-unknowns";
import { toDocumentKeys } from "../documents/spelling";
import { holdsUnknown, isUnknown, UNKNOWN, withoutUnknown } from "../documents/unknown";
import { durationSeconds } from "../lease/duration";
import { selfHostedQuote } from "../routing/self-hosted";
import { withinBounds } from "./bounds";
import { withoutAbsent } from "./child-inputs";
import { effectiveProfile, type SandboxInputs, sandboxInputsSchema } from "./inputs";
import { replacing, replacingDigest } from "./replacing";
import { generatedId } from "./sandbox-id";

/** What check found. Where there are problems the inputs are of no use. */
export interface Checked {
	readonly inputs: Record<string, unknown>;
	readonly problems: readonly Problem[];
	/** What a person must know, on the resource's row. */
	readonly notes: readonly string[];
	/** What will be made, in one line: extension, cost, lease, controls. */
	readonly plan: string;
}

/**
 * Binds what the program asks for: fills in what it leaves out, validates around what is not known yet, and
 * fixes the sandbox id. Pure: it touches nothing. Checked inputs pass through it unchanged.
 *
 * @param olds - The inputs of the last up, or nothing.
 */
export function check(
	extension: SandboxExtension,
	olds: Partial<SandboxInputs>,
	news: Record<string, unknown>,
): Checked {
	const spelled = { ...news, profile: toDocumentKeys(news.profile) };
	const { value: asked, problems } = parseAroundUnknowns(sandboxInputsSchema, spelled, isUnknown);
	if (problems.length > 0) return { inputs: news, problems, notes: [], plan: "" };
	const profile = asked.profile as Profile;
	const bounds = withinBounds(profile, asked);
	const given = extensionInputs(extension, asked.inputs);
	const ttl = asked.ttl ?? profile.ttl.default;
	const settings = {
		extension: asked.extension,
		profile,
		network: bounds.network,
		resources: bounds.resources,
		inputs: given.inputs as SandboxInputs["inputs"],
		...(asked.restoreFrom === undefined ? {} : { restoreFrom: asked.restoreFrom as unknown as SnapshotMeta }),
	};
	const refused =
		given.problems.length > 0
			? []
			: extension.problems(withoutUnknown(effectiveProfile(settings)), withoutUnknown(given.inputs));
	const adopt: Problem[] =
		asked.adopt === true && asked.sandboxId === undefined
			? [{ field: "adopt", reason: "is true, but no sandboxId says which sandbox to take over. Set sandboxId." }]
			: [];
	const { sandboxId, mayReplace } = fixedId(asked.sandboxId, olds, { ...settings, owner: asked.owner });
	const inputs: SandboxInputs = {
		...settings,
		...(asked.consumer === undefined ? {} : { consumer: asked.consumer }),
		ttl,
		sandboxId,
		timeouts: withoutAbsent(asked.timeouts),
		adopt: asked.adopt,
		onExpired: asked.onExpired,
		labels: asked.labels,
		...(asked.replaceOnChanges === undefined ? {} : { replaceOnChanges: asked.replaceOnChanges }),
		owner: asked.owner,
		phase: "ready",
		...selfHostedQuote(asked.extension),
	};
	return {
		inputs: withoutAbsent(inputs as unknown as Record<string, unknown>),
		problems: [...bounds.problems, ...given.problems, ...refused, ...adopt, ...restoring(extension, settings)],
		notes: [...capNote(ttl, profile), ...mayReplace],
		plan: planOf(extension, inputs),
	};
}

function extensionInputs(
	extension: SandboxExtension,
	inputs: Readonly<Record<string, unknown>>,
): { inputs: Readonly<Record<string, unknown>>; problems: readonly Problem[] } {
	if (isUnknown(inputs)) return { inputs, problems: [] };
	if (extension.inputsSchema === undefined) {
		return {
			inputs,
			problems: Object.keys(inputs).map((key) => ({
				field: `inputs.${key}`,
				reason: "is not known: this extension takes no inputs. Leave it out.",
			})),
		};
	}
	const { value, problems } = parseAroundUnknowns(extension.inputsSchema, inputs, isUnknown);
	return {
		inputs: problems.length > 0 ? inputs : value,
		problems: problems.map(({ field, reason }) => ({ field: field === "" ? "inputs" : `inputs.${field}`, reason })),
	};
}

function restoring(extension: SandboxExtension, { restoreFrom }: Pick<SandboxInputs, "restoreFrom">): Problem[] {
	if (restoreFrom === undefined) return [];
	const { id } = extension.declaration;
	const from = isUnknown(restoreFrom) ? UNKNOWN : restoreFrom.extension;
	const reason = !extension.supportsSnapshots()
		? `is given, but ${id} restores no snapshots. Leave it out, or use an extension that does.`
		: !isUnknown(from) && from !== id
			? `was taken by ${from}, and ${id} restores its own only. Use a profile of ${from}.`
			: undefined;
	return reason === undefined ? [] : [{ field: "restoreFrom", reason }];
}

/** The id that was asked for; else the one it has, as long as it is the same sandbox; else one of its own. */
function fixedId(
	asked: string | undefined,
	olds: Partial<SandboxInputs>,
	settings: Partial<SandboxInputs> & Pick<SandboxInputs, "owner">,
): { sandboxId: string; mayReplace: string[] } {
	const unknown = Object.entries(replacing(settings))
		.filter(([, value]) => holdsUnknown(value))
		.map(([key]) => key);
	const mayReplace =
		unknown.length === 0 || olds.sandboxId === undefined
			? []
			: [`may be replaced: ${unknown.map((key) => `\`${key}\``).join(", ")} is known only during the run`];
	if (asked !== undefined) return { sandboxId: asked, mayReplace };
	if (unknown.length > 0 || holdsUnknown(settings.owner)) return { sandboxId: UNKNOWN, mayReplace };
	const digest = replacingDigest(settings);
	if (olds.sandboxId !== undefined && !isUnknown(olds.sandboxId) && replacingDigest(olds) === digest)
		return { sandboxId: olds.sandboxId, mayReplace };
	return { sandboxId: generatedId(settings.owner, digest), mayReplace };
}

function capNote(ttl: string, profile: Profile): string[] {
	const [asked, max] = [durationSeconds(ttl), durationSeconds(profile.ttl.max)];
	return asked !== undefined && max !== undefined && asked > max
		? [`ttl ${ttl} is capped at the profile's max ${profile.ttl.max}`]
		: [];
}

function planOf(extension: SandboxExtension, inputs: SandboxInputs): string {
	const { pricing_model } = extension.declaration.capabilities;
	const controls = Object.entries(extension.plannedControls(withoutUnknown(effectiveProfile(inputs))));
	const promises = controls.map(
		([name, { status, note }]) => `${name} ${status}${status === "enforced" ? "" : ` (${note})`}`,
	);
	const lease = holdsUnknown(inputs.ttl) ? "known only during the run" : inputs.ttl;
	return [`${inputs.extension}, ${pricing_model}, 0 USD`, `lease ${lease}`, ...promises].join("; ");
}
