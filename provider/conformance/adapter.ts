import type { ExtensionDeclaration, ExtensionInputs, Handle, SnapshotMeta } from "../contract";
import type { Checkpoint } from "../contract/checkpoint";
import type { ProfileDocument } from "../documents/profile";
import type { HostileArchive } from "./snapshots/hostile";

/**
 * One extension, and what the kit needs to know to try it. What an adapter leaves out cannot be shown: those cases
 * are reported as such, never as passed.
 *
 * Every call is made by a process of its own that the kit starts: so it can be killed, has a strange environment and
 * inherited descriptors, and its memory can be measured.
 *
 * @example
 * ```ts
 * conformance({
 *   name: "ext.note-paper",
 *   declaration,
 *   handler: `${__dirname}/dist/handler.js`,
 *   profile: { id: "profile.kit", version: "1", extension: "ext.note-paper", isolation: { level: "container" } },
 * });
 * ```
 */
export interface ConformanceAdapter {
	/** Stands before the names of all its tests, such as "ext.bwrap as root". */
	readonly name: string;
	/** As its YAML has it. Of `handler` the class counts; the module is `handler`, below. */
	readonly declaration: ExtensionDeclaration;
	/** The built module of the handler: an absolute path. */
	readonly handler: string;
	/** Its own settings, overlaid on the declaration's. */
	readonly config?: Readonly<Record<string, unknown>>;
	/**
	 * What the sandboxes are made by. The kit adds credentials to it, and limits where the extension takes them
	 * (`problems`).
	 */
	readonly profile: ProfileDocument;
	/** The inputs of every sandbox. Default: none. */
	readonly inputs?: ExtensionInputs;
	/** Where they are made. Default: "local". */
	readonly host?: string;
	/** Of the processes that call the extension: keys, PATH, HOME. Default: PATH and HOME of this one. */
	readonly environment?: Readonly<Record<string, string>>;
	/** The command line that starts such a process, given the plain one (node and the kit's module): for another user. */
	readonly launch?: (command: readonly string[]) => readonly string[];
	/** Programs in its sandboxes, beside a POSIX shell and the coreutils, that some cases need. */
	readonly programs?: readonly ProgramInside[];
	/** The checkpoints its `provision` comes to; a create is killed at each. */
	readonly checkpoints?: readonly Checkpoint[];
	/**
	 * Fields of its handles that only `execute` goes by: they name the present process or connection of a sandbox,
	 * and a state may hold those of the one before.
	 */
	readonly incidental?: readonly string[];
	/**
	 * Everything of a sandbox that is there, as its host sees it and not as the extension says: a line each, such as
	 * "process 4242: sleep 300" or "directory /…". Empty when it is gone; a process that has ended but for its number, or
	 * has a SIGKILL before it, is gone. Without it the kit cannot show that nothing is left of a command or of a sandbox.
	 */
	traces?(handle: Handle): Promise<readonly string[]> | readonly string[];
	/** Ends the sandbox behind the extension's back, as a crash of its host would. */
	crash?(handle: Handle): Promise<void> | void;
	/**
	 * Puts an archive where the extension keeps its snapshots, with sums that fit it, so that only its members can be
	 * at fault.
	 */
	plant?(archive: HostileArchive): Promise<SnapshotMeta> | SnapshotMeta;
	/** All repetitions of the cases that depend on chance: minutes instead of seconds. */
	readonly thorough?: boolean;
}

/** A program that a sandbox may have or not. */
export type ProgramInside = "python3";
