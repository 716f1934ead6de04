import { CHECKPOINTS, type Checkpoint } from "../../../provider/contract/checkpoint";

/** Which processes get SIGKILL. */
export const KILLS = ["cli", "provider", "both"] as const;
export type Kill = (typeof KILLS)[number];

export interface Row {
	readonly command: "up" | "destroy";
	readonly checkpoint: Checkpoint;
	readonly kill: Kill;
}

const COMMANDS: Readonly<Record<string, Row["command"]>> = {
	create: "up",
	provision: "up",
	wait: "up",
	delete: "destroy",
	teardown: "destroy",
};

/** Every checkpoint with every kill. */
export function allRows(): Row[] {
	return CHECKPOINTS.flatMap((checkpoint) =>
		KILLS.map((kill) => ({ command: commandOf(checkpoint), checkpoint, kill })),
	);
}

function commandOf(checkpoint: Checkpoint): Row["command"] {
	const [step = ""] = checkpoint.split(":");
	const command = COMMANDS[step];
	if (command === undefined) throw new Error(`no command of the matrix comes to ${checkpoint}: name one here`);
	return command;
}
