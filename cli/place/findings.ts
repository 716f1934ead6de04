import type { Finding, SandboxExtension } from "../../provider/contract";
import type { SandboxerError } from "../../provider/errors";
import { LOOK_SECONDS, type Place } from "./place";

/** Something left behind, and who found it. */
export interface Found {
	readonly extension: SandboxExtension;
	readonly finding: Finding;
}

/** What was left behind, by all extensions of a place. */
export async function findings(
	place: Place,
): Promise<{ readonly found: readonly Found[]; readonly failures: readonly SandboxerError[] }> {
	const { answers, failures } = await place.ask("list what was left behind", (extension) =>
		extension.inventory(place.call(LOOK_SECONDS)),
	);
	return {
		found: answers.flatMap(({ extension, value }) => value.map((finding) => ({ extension, finding }))),
		failures,
	};
}

export function findingRow({ extension, finding: { kind, what, sandboxId, action, reason } }: Found): string[] {
	return [extension.declaration.id, kind, what, sandboxId ?? "", action, reason];
}
