import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { ExtensionHost, SandboxExtension } from "../contract";
import { type ErrorCode, SandboxerError } from "../errors";
import type { LoadedExtension } from "./extensions";

/** What a class must have to make sandboxes; all else fails closed in the base class. */
const REQUIRED = ["provision", "waitReady", "teardown"] as const;

/**
 * Loads an extension's handler and makes it. Nothing of a backend is loaded before this.
 *
 * @param cwd - From where a handler that is a package is found.
 * @throws SandboxerError `invalid` where the module or the class is not there or is no handler, `preflight`
 * where the module needs one that is not installed.
 */
export function loadHandler(
	declaration: LoadedExtension,
	host: ExtensionHost,
	cwd: string = process.cwd(),
): SandboxExtension {
	const [module = "", name = ""] = declaration.handler.split(":");
	const refusal = refusalOf(declaration);
	const exported = load(declaration, module, cwd, refusal);
	const Handler = exported[name];
	if (Handler === undefined) {
		throw refusal({
			message: `has no export "${name}"; its exports: ${
				Object.keys(exported)
					.filter((key) => key !== "__esModule")
					.join(", ") || "none"
			}`,
		});
	}
	if (typeof Handler !== "function") throw refusal({ message: `exports "${name}", but it is not a class` });
	const extension = made(Handler as new (host: ExtensionHost) => object, name, host, refusal);
	if (!isExtension(extension)) {
		const lacking = REQUIRED.filter((method) => typeof (extension as Record<string, unknown>)[method] !== "function");
		throw refusal({
			message: `exports "${name}", which has no ${lacking.join(", ")}`,
			hint: 'A handler is a class that extends SandboxExtension of "pulumi-sandboxer/extension"; another copy of that package will do.',
		});
	}
	if (declaration.capabilities.pricing_model === "metered" && !estimatesItself(extension)) {
		throw refusal({
			message: `exports "${name}", which has no estimateCost of its own, while capabilities.pricing_model is "metered"`,
			hint: 'Implement estimateCost, or declare "self-hosted".',
		});
	}
	return extension;
}

type Refusal = (what: { message: string; hint?: string; code?: ErrorCode; cause?: unknown }) => SandboxerError;

function refusalOf({ id, file, handler }: LoadedExtension): Refusal {
	return ({ message, hint, code = "invalid", cause }) =>
		new SandboxerError({
			code,
			message: `${id} (${file}): the handler ${JSON.stringify(handler)} ${message}.`,
			...(hint === undefined ? {} : { hint }),
			details: { extension: id, file, handler },
			cause,
		});
}

function load({ file }: LoadedExtension, module: string, cwd: string, refusal: Refusal): Record<string, unknown> {
	const beside = module.startsWith(".");
	const require = createRequire(beside ? file : join(cwd, "x.js"));
	let path: string;
	try {
		path = require.resolve(module);
	} catch (cause) {
		const tried = beside
			? `${join(dirname(file), module)}, also with .js or /index.js`
			: `the package "${module}", from ${cwd} upwards`;
		throw refusal({
			message: `was not found; tried ${tried}`,
			hint: beside ? "It is built JavaScript beside the YAML file." : `Install it: npm install ${module}.`,
			cause,
		});
	}
	try {
		return Object(require(path)) as Record<string, unknown>;
	} catch (cause) {
		const [reason = ""] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
		const missing = (cause as NodeJS.ErrnoException | null)?.code === "MODULE_NOT_FOUND";
		throw refusal({
			message: `could not be loaded from ${path}: ${reason}`,
			cause,
			...(missing ? { code: "preflight", hint: "Install what it needs." } : {}),
		});
	}
}

function made(
	Handler: new (host: ExtensionHost) => object,
	name: string,
	host: ExtensionHost,
	refusal: Refusal,
): object {
	try {
		return new Handler(host);
	} catch (cause) {
		if (cause instanceof Error && cause.name === "SandboxerError") throw cause;
		throw refusal({
			message: `exports "${name}", which could not be made: ${cause instanceof Error ? cause.message : String(cause)}`,
			cause,
		});
	}
}

function isExtension(made: object): made is SandboxExtension {
	return REQUIRED.every((method) => typeof (made as Record<string, unknown>)[method] === "function");
}

/** Whether `estimateCost` is not just the base class's, of whichever copy of this package, which refuses. */
function estimatesItself(extension: SandboxExtension): boolean {
	let owner: object | null = extension;
	while (owner !== null && !Object.hasOwn(owner, "estimateCost")) owner = Object.getPrototypeOf(owner) as object | null;
	return owner !== null && owner.constructor.name !== "SandboxExtension";
}
