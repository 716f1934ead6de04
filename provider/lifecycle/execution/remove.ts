import { join } from "node:path";
import type { ExecutionInputs } from "./inputs";
import { removeFolder } from "./output-files";
import { FAILED, outputFolder } from "./run";

/** Removes the files of one run, and those of the last that failed. The sandbox is not asked. */
export async function removeOutput(id: string, outputs: Pick<ExecutionInputs, "owner">): Promise<void> {
	const folder = outputFolder(outputs);
	for (const run of [FAILED, id]) await removeFolder(join(folder, run));
}
