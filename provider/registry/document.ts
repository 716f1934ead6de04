import type { ExtensionDeclaration } from "../documents/extension";
import type { DocumentProblem } from "../documents/problems";
import type { Profile } from "../documents/profile";
import type { SandboxerError } from "../errors";

/** What a document of each kind holds, defaults filled in. */
export interface Documents {
	readonly profile: Profile;
	readonly extension: ExtensionDeclaration;
}

/** A document that passed its schema. */
export interface ReadDocument<T> {
	readonly value: T;
	/** The file as messages name it. */
	readonly file: string;
	/** The error for problems that only show beside other documents. */
	refuse(problems: readonly DocumentProblem[]): SandboxerError;
}
