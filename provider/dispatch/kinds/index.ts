import { SandboxerError } from "../../errors";
import { executions } from "./execution";
import type { Kind } from "./kind";
import { sandboxes } from "./sandbox";
import { snapshots } from "./snapshot";

export type { Kind, Properties } from "./kind";

/** Kinds beside the sandboxes, by the name that stands in their provider's text. */
const CHILDREN: Readonly<Record<string, Kind>> = { execution: executions, snapshot: snapshots };

/** @param name - An extension's id for its sandboxes, else the name of a child's kind. */
export function kindOf(name: string): Kind {
	if (name.startsWith("ext.")) return sandboxes(name);
	const kind = Object.hasOwn(CHILDREN, name) ? CHILDREN[name] : undefined;
	if (kind !== undefined) return kind;
	throw new SandboxerError({
		code: "unsupported",
		message: `This version of pulumi-sandboxer does not know resources of the kind ${JSON.stringify(name)}.`,
		hint: "Install the version that made the state.",
	});
}
