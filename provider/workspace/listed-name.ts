import { SandboxerError } from "../errors";
import { pathText, plainPathText } from "./path-text";

/** A name in a listing: a file, a directory on the way to files, or both (a file that became a directory). */
export class ListedName {
	/** Whether the name itself was listed. */
	isListed = false;
	/** By name, each byte one character (latin1): names need not be UTF-8. */
	readonly children = new Map<string, ListedName>();

	/**
	 * Notes a path below this name.
	 * @throws {@link SandboxerError} `invalid` for a path that leads elsewhere: an index can be made by hand.
	 */
	add(path: Buffer): ListedName {
		let at: ListedName = this;
		for (const part of path.toString("latin1").split("/")) {
			if (part === "" || part === "." || part === "..") {
				throw new SandboxerError({
					code: "invalid",
					message: `inputs.repo: git lists ${pathText(path)}, which leads out of the repository.`,
					hint: "Its index was made by hand or is damaged: make it anew with git read-tree HEAD.",
					details: { field: "inputs.repo", paths: [plainPathText(path)] },
				});
			}
			let next = at.children.get(part);
			if (next === undefined) {
				next = new ListedName();
				at.children.set(part, next);
			}
			at = next;
		}
		at.isListed = true;
		return at;
	}
}
