import { existsSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "./until";

/** Folders of the control groups that the records below a folder of sandboxes name. */
export function groupsIn(base: string): string[] {
	if (!existsSync(base)) return [];
	return readdirSync(base)
		.map((name) => join(base, name, "record.json"))
		.filter(existsSync)
		.flatMap((file) => {
			try {
				const { cgroups } = JSON.parse(readFileSync(file, "utf8")) as { cgroups: { folder: string }[] };
				return cgroups.map(({ folder }) => folder);
			} catch {
				return []; // damaged by the test
			}
		});
}

/** Removes groups whose sandboxes a test has ended and taken the record of: nothing else knows of them then. */
export async function removeGroups(folders: Iterable<string>): Promise<void> {
	for (const folder of folders) {
		const isGone = () => {
			try {
				if (existsSync(folder)) rmdirSync(folder);
				return true;
			} catch {
				return false; // whoever was in it is still ending
			}
		};
		await until(`${folder} is removed`, isGone, 10_000);
	}
}
