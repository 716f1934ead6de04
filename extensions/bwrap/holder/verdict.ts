import { readSaid } from "./read-said";

/** What the supervisor said last of the lease that it judges; times are seconds of its clock. */
export type Verdict =
	/** It ends the sandbox at this deadline, unless it reads another before. */
	| { readonly kind: "obeys"; readonly deadline: number }
	/** It has ended the sandbox, or is about to. */
	| { readonly kind: "over"; readonly deadline: number }
	/** The sandbox was ended at `at`, after so many seconds without activity. */
	| { readonly kind: "idle"; readonly seconds: number; readonly at: number };

/** Undefined where it has said nothing yet, or only half of it. */
export async function readVerdict(file: string): Promise<Verdict | undefined> {
	const text = await readSaid(file);
	if (text === undefined) return undefined;
	const [, kind, first, second] = /^(obeys|over|idle) (\d+)(?: (\d+))?\n$/.exec(text) ?? [];
	if (kind === "idle") return second === undefined ? undefined : { kind, seconds: Number(first), at: Number(second) };
	return kind === "obeys" || kind === "over" ? { kind, deadline: Number(first) } : undefined;
}
