import * as pulumi from "@pulumi/pulumi";
import { SandboxerError } from "../provider/errors";
import type { LoadedProfile, Search } from "../provider/registry";
import { registry } from "./registry";
import type { ProfileArgs } from "./sandbox-args";

/** Where this stack looks for profiles and extensions, beside the package's own. */
export function searchOfStack(): Search {
	const config = new pulumi.Config("sandboxer");
	return registry().searchFrom({
		cwd: process.cwd(),
		profilePath: config.get("profilePath"),
		extensionPath: config.get("extensionPath"),
	});
}

/** Profiles by reference, of one search path each: a program of many sandboxes names few, and documents do not change while it runs. */
const loaded = new Map<string, LoadedProfile>();

function load(reference: string | ProfileArgs): LoadedProfile {
	const search = searchOfStack();
	if (typeof reference !== "string") return registry().loadProfile(reference, search);
	const key = JSON.stringify([reference, search]);
	const profile = loaded.get(key) ?? registry().loadProfile(reference, search);
	loaded.set(key, profile);
	return profile;
}

/** The profile a program names, whole, and its extension: the type of the resource depends on it. */
export function profileOf(name: string, reference: string | ProfileArgs): { profile: object; extension: string } {
	return inProgram(`Sandbox "${name}"`, () => {
		const { profile, declaration } = load(reference);
		if (declaration === undefined) {
			throw new SandboxerError({
				code: "unsupported",
				message: `Profile ${profile.id} has a route, which this version cannot follow yet.`,
				hint: "Name one extension instead.",
			});
		}
		return { profile, extension: declaration.id };
	});
}

/** An error of ours, in a program: printed without a stack, since it is about the program's own text. */
export function inProgram<T>(where: string, work: () => T): T {
	try {
		return work();
	} catch (thrown) {
		if (thrown instanceof SandboxerError) throw new pulumi.RunError(`${where}: ${thrown.text}`);
		throw thrown;
	}
}
