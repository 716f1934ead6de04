import type { DocumentProblem } from "../documents/problems";
import type { Profile } from "../documents/profile";
import { hasCode } from "../errors";
import { documentFiles } from "./document-files";
import { findExtension, type LoadedExtension, undeclared } from "./extensions";
import type { Search } from "./search";

/** A profile's extension, where it names one, and what is wrong between the two. */
export interface ProfileExtensions {
	readonly declaration: LoadedExtension | undefined;
	readonly problems: readonly DocumentProblem[];
}

/**
 * Holds a profile against the declarations of the extensions it names: they must be declared, and offer
 * its isolation level; of a route's candidates at least one must.
 */
export function profileExtensions(
	{ extension, route, isolation: { level } }: Profile,
	search: Search,
): ProfileExtensions {
	const named =
		extension === undefined
			? (route?.extensions ?? []).map((id, index) => ({ id, path: ["route", "extensions", index] }))
			: [{ id: extension, path: ["extension"] }];
	const known = documentFiles("extension", search);
	const missing = named.filter(({ id }) => !known.has(id));
	const problems = missing.map(({ id, path }) => ({
		path,
		reason: `is ${JSON.stringify(id)}, which ${undeclared(id, search)}`,
	}));
	const declared = named.filter(({ id }) => known.has(id)).map(({ id }) => findExtension(id, search));
	if (declared.length > 0 && missing.length === 0 && !declared.some((candidate) => offers(candidate, level))) {
		problems.push({ path: ["isolation", "level"], reason: lacking(level, declared, search) });
	}
	return { declaration: extension === undefined ? undefined : declared[0], problems };
}

/** A level that is no text is not known yet (a Pulumi Output): check looks again once it is. */
function offers({ capabilities }: LoadedExtension, level: string): boolean {
	return typeof level !== "string" || capabilities.isolation_levels.some((offered) => offered === level);
}

function lacking(level: string, declared: readonly LoadedExtension[], search: Search): string {
	const lacks = declared
		.map(({ id, capabilities }) => `${id} does not offer (it offers ${capabilities.isolation_levels.join(", ")})`)
		.join(" and ");
	const others = othersOffering(level, search);
	return `is ${JSON.stringify(level)}, which ${lacks}; ${others.length === 0 ? "no declared extension offers it" : `these do: ${others.join(", ")}`}`;
}

/** Declarations that have problems of their own offer nothing. */
function othersOffering(level: string, search: Search): string[] {
	return [...documentFiles("extension", search).keys()].filter((id) => {
		try {
			return offers(findExtension(id, search), level);
		} catch (thrown) {
			if (hasCode(thrown, "invalid")) return false;
			throw thrown;
		}
	});
}
