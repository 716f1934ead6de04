import { copyFile, open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Control } from "../../../provider/contract";
import { hasErrno } from "../../../provider/errors";
import { durationText } from "../../../provider/lease/duration";
import type { BwrapRecord } from "../record";

/** Files of a sandbox's folder, out of its reach. */
const LIMIT = "idle";
const ACTIVITY = "activity";

/**
 * Puts the idle limit of a record where the supervisor looks for it, or takes it away. The scripts stand beside it:
 * the package may be exchanged while the sandbox runs.
 */
export async function setIdleLimit(directory: string, record: BwrapRecord): Promise<void> {
	const file = join(directory, LIMIT);
	if (record.idle_seconds === undefined) return rm(file, { force: true });
	await Promise.all([
		...["watch", "measure"].map((name) => copyFile(join(__dirname, `${name}.sh`), join(directory, name))),
		// By whoever makes the sandbox, so that it stays his when root runs a command in it.
		open(join(directory, ACTIVITY), "a", 0o600).then((activity) => activity.close()),
	]);
	await writeFile(`${file}.new`, `${record.idle_seconds} ${countedSockets(record)}\n`, { mode: 0o600 });
	await rename(`${file}.new`, file);
}

/** Whose connections are the sandbox's, as `measure.sh` wants it. */
export function countedSockets({ network, own_uid, maker_uid }: BwrapRecord): string {
	if (network === "deny") return "all";
	return own_uid === undefined ? `inode ${maker_uid}` : `uid ${own_uid}`;
}

/** What a record promises of its idle limit; undefined where it has none. */
export function idleVerdict({
	idle_seconds,
	network,
}: Pick<BwrapRecord, "idle_seconds" | "network">): Control | undefined {
	if (idle_seconds === undefined) return undefined;
	const limit = `ended after ${durationText(idle_seconds)} without a command begun, cpu used or a connection`;
	return network === "deny"
		? { status: "enforced", note: limit }
		: { status: "enforced-with-gaps", note: `${limit}; a connection of less than 5 s may pass unseen` };
}

/** Marks that a command was begun; nothing where the sandbox has no idle limit. */
export async function noteActivity(directory: string): Promise<void> {
	try {
		const file = await open(join(directory, ACTIVITY), "r+");
		try {
			// As long each time: nothing of an earlier mark is left. It is unlike every earlier one.
			await file.write(`${String(process.hrtime.bigint()).padStart(20, "0")}\n`, 0);
		} finally {
			await file.close();
		}
	} catch (thrown) {
		if (!hasErrno(thrown, "ENOENT")) throw thrown;
	}
}
