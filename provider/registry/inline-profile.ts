import { isEventual } from "../documents/eventual";
import { judgeAroundUnknowns } from "../documents/judge-around-unknowns";
import { type Profile, profileSchema } from "../documents/profile";
import { isPlainObject, toDocumentKeys } from "../documents/spelling";
import { SandboxerError } from "../errors";
import type { ReadDocument } from "./document";
import { invalidDocument } from "./invalid-document";

const NAME = "inline profile";

/**
 * A profile written in the program, its keys in either spelling. Values that become known later stay as
 * they are, to be judged by check; but what makes the sandbox must be known at once.
 *
 * @throws SandboxerError `invalid` with all problems at once.
 */
export function inlineProfile(reference: object): ReadDocument<Profile> {
	if (!isPlainObject(reference)) {
		throw new SandboxerError({
			code: "invalid",
			message: "The profile is neither a text nor a plain object.",
			hint: 'Give a name ("bwrap-local"), a path ("./profile.mine.yaml") or the document as an object.',
		});
	}
	const document = { id: "profile.inline", version: "1", ...(toDocumentKeys(reference) as Record<string, unknown>) };
	const { value, problems } = judgeAroundUnknowns(profileSchema, document, isEventual);
	const { extension, route } = document as { extension?: unknown; route?: unknown };
	const eventual = Object.entries({
		extension,
		route,
		"route.extensions": isPlainObject(route) ? route.extensions : undefined,
	})
		.filter(([, made]) => isEventual(made) || (Array.isArray(made) && made.some(isEventual)))
		.map(([field]) => ({
			path: field.split("."),
			reason: "must be known while the program runs, since it decides the resource's type; give a plain value",
		}));
	if (problems.length + eventual.length > 0) throw invalidDocument(NAME, [...problems, ...eventual]);
	return { value, file: "inline", refuse: (more) => invalidDocument(NAME, more) };
}
