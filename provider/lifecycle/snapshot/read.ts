import { type Backend, callOf, READ_TIMEOUT_SECONDS } from "../backend";
import { inputsAmong } from "../child-inputs";
import { type SnapshotOutputs, snapshotInputsSchema } from "./inputs";

/** Whether the archive is still there; where it is not, the next up takes another. */
export async function readSnapshot(
	backend: Backend,
	properties: Partial<SnapshotOutputs>,
): Promise<{ readonly outputs: object; readonly inputs: object } | undefined> {
	const { snapshot } = properties;
	if (snapshot === undefined) return undefined;
	const stored = await backend.extension.snapshots(
		{ sandboxId: snapshot.sandbox_id },
		callOf(backend, READ_TIMEOUT_SECONDS),
	);
	if (!stored.some(({ snapshot_id, sha256 }) => snapshot_id === snapshot.snapshot_id && sha256 === snapshot.sha256)) {
		backend.info(`snapshot ${snapshot.snapshot_id} is not stored any more`);
		return undefined;
	}
	return { outputs: properties, inputs: inputsAmong(snapshotInputsSchema, properties) };
}
