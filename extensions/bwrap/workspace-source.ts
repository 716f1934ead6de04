import { chown } from "node:fs/promises";
import { resolve } from "node:path";
import type { ProvisionRequest } from "../../provider/contract";
import { copyTree } from "../../provider/workspace";
import type { BwrapInputs } from "./inputs";
import type { BwrapRecord } from "./record";

/** Where a new workspace comes from. */
export interface WorkspaceSource {
	/** Fills a workspace, which is there and empty, and makes it the sandbox's own user's. */
	fill(workspace: string, record: BwrapRecord, request: ProvisionRequest): Promise<void>;
	close(): Promise<void>;
}

/** A copy of `inputs.repo`, or nothing. */
export function repoSource({ repo }: BwrapInputs): WorkspaceSource {
	return {
		async fill(workspace, { own_uid }, { signal, progress }) {
			const owner = own_uid === undefined ? undefined : { uid: own_uid, gid: own_uid };
			if (repo !== undefined) {
				progress(`copying ${repo}`);
				await copyTree(resolve(repo), workspace, { signal, ...(owner === undefined ? {} : { owner }) });
			}
			if (owner !== undefined) await chown(workspace, owner.uid, owner.gid);
		},
		close: () => Promise.resolve(),
	};
}
