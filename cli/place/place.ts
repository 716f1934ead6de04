import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Call, SandboxExtension } from "../../provider/contract";
import { hasCode, SandboxerError } from "../../provider/errors";
import { findExtension, loadExtensions, openExtension, type Search, searchFrom } from "../../provider/registry";
import type { Invocation, Values } from "../command-line/command";
import { UsageError } from "../command-line/usage-error";
import type { WHERE } from "./options";
import { programFolder, Stack } from "./pulumi";
import { overlaid, type SettingValues, settingsOf } from "./settings";

/** How long a look at a backend may take. */
export const LOOK_SECONDS = 60;
/** How long a change at a backend may take, unless the command line says otherwise. */
export const CHANGE_SECONDS = 300;

/** An extension's answer. */
export interface Answer<T> {
	readonly extension: SandboxExtension;
	readonly value: T;
}

/** What the extensions answered, and who could not. */
export interface Answers<T> {
	readonly answers: readonly Answer<T>[];
	readonly failures: readonly SandboxerError[];
}

/** Where a command looks: settings, and the extensions to ask. */
export class Place {
	readonly search: Search;
	private readonly opened = new Map<string, SandboxExtension>();

	/**
	 * @param folder - Where the command runs. Relative paths of the settings start at the process's own folder, which
	 * for a stack is the program's.
	 * @param chosen - Extensions that the command line names.
	 */
	constructor(
		readonly folder: string,
		readonly settings: SettingValues,
		readonly stack: Stack | undefined,
		private readonly chosen: readonly string[],
		readonly signal: AbortSignal,
	) {
		this.search = searchFrom({
			cwd: process.cwd(),
			profilePath: settings["sandboxer:profilePath"],
			extensionPath: settings["sandboxer:extensionPath"],
		});
	}

	/** @param needs.secrets - The settings' secrets are needed: a stack is asked for them. */
	static async of(
		{ values, signal }: Pick<Invocation, "signal"> & { readonly values: Values<typeof WHERE> },
		needs: { readonly secrets: boolean } = { secrets: false },
	): Promise<Place> {
		const folder = resolve(values["project-dir"] ?? ".");
		if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
			throw new UsageError(`--project-dir ${JSON.stringify(values["project-dir"])} is not a folder.`);
		process.chdir(folder);
		const stack = values.stack === undefined ? undefined : new Stack(values.stack, folder, signal);
		const settings = overlaid((await stack?.settings({ withSecrets: needs.secrets })) ?? {}, values.config ?? []);
		if (stack !== undefined) process.chdir(programFolder(folder));
		const chosen = (values.extension ?? []).map((id) => (id.startsWith("ext.") ? id : `ext.${id}`));
		return new Place(folder, settings, stack, chosen, signal);
	}

	/** The extension of that id, made with the settings. */
	open(id: string): SandboxExtension {
		let extension = this.opened.get(id);
		if (extension === undefined) {
			extension = openExtension(id, settingsOf(this.settings));
			this.opened.set(id, extension);
		}
		return extension;
	}

	call(timeoutSeconds: number): Call {
		return { signal: this.signal, timeoutSeconds, progress: () => undefined };
	}

	/**
	 * Asks the chosen extensions, else all self-hosted ones. One that cannot do it at all is passed over, unless it was
	 * chosen; one that fails stands in the failures, beside the others' answers, and so does what one of them says has failed.
	 *
	 * @throws SandboxerError `unsupported` where none of them can.
	 */
	async ask<T>(
		what: string,
		question: (extension: SandboxExtension, failed: (thrown: unknown) => void) => Promise<T>,
	): Promise<Answers<T>> {
		const answers: Answer<T>[] = [];
		const failures: SandboxerError[] = [];
		for (const id of this.extensionIds()) {
			try {
				const extension = this.open(id);
				answers.push({
					extension,
					value: await question(extension, (thrown) => failures.push(ofExtension(id, thrown))),
				});
			} catch (thrown) {
				const passedOver = hasCode(thrown, "unsupported") && this.chosen.length === 0;
				if (!passedOver) failures.push(ofExtension(id, thrown));
			}
		}
		if (answers.length > 0) return { answers, failures };
		const [first] = failures;
		if (first !== undefined && failures.length === 1) throw first;
		if (failures.length > 0) return { answers, failures };
		throw new SandboxerError({ code: "unsupported", message: `No extension here can ${what}.` });
	}

	private extensionIds(): string[] {
		if (this.chosen.length > 0) return [...new Set(this.chosen)].map((id) => findExtension(id, this.search).id);
		return loadExtensions(this.search)
			.filter(({ capabilities }) => capabilities.pricing_model === "self-hosted")
			.map(({ id }) => id);
	}
}

/** An error with the extension that it came from. */
function ofExtension(id: string, thrown: unknown): SandboxerError {
	const { code, message, hint, details, cause } = SandboxerError.from(thrown);
	return new SandboxerError({
		code,
		message: message.includes(id) ? message : `${id}: ${message}`,
		...(hint === undefined ? {} : { hint }),
		details: { ...details, extension: id },
		cause: cause ?? thrown,
	});
}
