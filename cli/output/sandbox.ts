import type { Owner } from "../../provider/contract";
import type { Found } from "../place/find";

/**
 * Where a sandbox stands, in a word. `expired`: its lease is over, whether or not it still runs. `gone`: it does not
 * run, or is not there. `unknown`: nobody can say.
 */
export type SandboxState = "ready" | "provisioning" | "expired" | "gone" | "unknown";

export function stateOf({ located, gone }: Pick<Found, "located" | "gone">, now: number): SandboxState {
	if (located === undefined) return gone ? "gone" : "unknown";
	const { phase, alive, expiresAt, isOver } = located;
	if (phase === "provisioning") return "provisioning";
	// By the clock of its place, where that is told: this machine's may differ.
	if (isOver ?? (expiresAt !== undefined && Date.parse(expiresAt) <= now)) return "expired";
	if (alive === undefined) return "unknown";
	return alive ? "ready" : "gone";
}

/** A sandbox in a document: see docs/cli.md. What is not known is null. */
export function sandboxDocument(found: Found, now: number) {
	const { handle, located, urn } = found;
	return {
		sandboxId: handle.sandbox_id,
		extension: handle.extension,
		state: stateOf(found, now),
		phase: located?.phase ?? null,
		alive: located?.alive ?? null,
		createdAt: located?.createdAt ?? null,
		readyAt: located?.readyAt ?? null,
		expiresAt: located?.expiresAt ?? null,
		clockAheadSeconds: located?.clockAheadSeconds ?? null,
		profile: located?.profile ?? null,
		owner: located?.owner ?? null,
		consumer: located?.consumer ?? null,
		labels: located?.labels ?? {},
		urn: urn ?? located?.owner.urn ?? null,
		handle,
	};
}

/** This machine's time, as the clock that decides on its lease would have it, in milliseconds. */
export function nowThere({ located }: Pick<Found, "located">, now: number): number {
	return now - (located?.clockAheadSeconds ?? 0) * 1000;
}

/** Whose a sandbox is, for a person: `project/stack/resource`. */
export function ownerText(owner: Owner | undefined): string {
	if (owner === undefined) return "";
	if (owner.scope === CLI_SCOPE) return `command line (${owner.project})`;
	return [owner.project, owner.stack, owner.urn.split("::").at(-1)].join("/");
}

/** The owner's scope of what the command line made. */
export const CLI_SCOPE = "cli";
