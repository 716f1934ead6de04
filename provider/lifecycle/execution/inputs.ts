import { z } from "zod";
import type { Handle, Json, Owner } from "../../contract";
import { durationSchema } from "../../lease/duration";
import { childInputs } from "../child-inputs";

/** The inputs of an execution: the args by their own names, the sandbox's handle, and the owner. */
export const executionInputsSchema = z.strictObject({
	...childInputs,
	command: z.array(z.string()).min(1),
	cwd: z.string().optional(),
	env: z.record(z.string(), z.string()).optional(),
	stdin: z.string().optional(),
	user: z.enum(["sandbox", "root"]).optional(),
	credentials: z.array(z.string()).optional(),
	timeout: durationSchema.default("5m"),
	/** An exit code other than 0 is a result, not a failure. */
	mayFail: z.boolean().default(false),
	triggers: z.array(z.json()).optional(),
});

/** What check makes of the inputs. Any part may be the engine's marker for an unknown value. */
export interface ExecutionInputs {
	readonly extension: string;
	readonly handle: Handle;
	readonly command: readonly string[];
	readonly cwd?: string;
	readonly env?: Readonly<Record<string, string>>;
	readonly stdin?: string;
	readonly user?: "sandbox" | "root";
	readonly credentials?: readonly string[];
	readonly timeout: string;
	readonly mayFail: boolean;
	readonly triggers?: readonly Json[];
	readonly owner: Owner;
}

/** One output of a command that ran. */
export interface StoredOutput {
	/** Holds all of it, on the machine that ran the program. */
	readonly file: string;
	readonly sha256: string;
	readonly bytes: number;
	/** More was written than the file holds. */
	readonly truncated: boolean;
}

export interface ExecutionOutputs extends ExecutionInputs {
	readonly exitCode: number;
	/** The last of each output. */
	readonly stdout: string;
	readonly stderr: string;
	readonly output: { readonly stdout: StoredOutput; readonly stderr: StoredOutput };
	/** UTC, ISO 8601. */
	readonly ranAt: string;
	readonly durationMs: number;
}
