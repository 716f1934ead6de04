import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import * as pulumi from "@pulumi/pulumi";

/**
 * What tells apart two stacks of the same name that have nothing to do with each other, such as two clones
 * of one program, each with its own state: stack config `sandboxer:scope`, else the organization and a
 * hash of the address of the state's backend.
 */
export function scope(): string {
	const configured = new pulumi.Config("sandboxer").get("scope");
	if (configured !== undefined && configured !== "") return configured;
	const backend = process.env.PULUMI_BACKEND_URL ?? backendOfProject(process.cwd()) ?? backendOfLogin() ?? "";
	return `${pulumi.getOrganization()}-${createHash("sha256").update(backend).digest("hex").slice(0, 12)}`;
}

/** `backend.url` of the project file; one that starts from the project's own folder is another in each clone. */
function backendOfProject(from: string): string | undefined {
	for (let folder = from; ; folder = dirname(folder)) {
		const file = ["Pulumi.yaml", "Pulumi.yml"]
			.map((name) => join(folder, name))
			.find((candidate) => existsSync(candidate));
		if (file !== undefined) {
			const { parse } = require("yaml") as typeof import("yaml");
			const project = parse(readFileSync(file, "utf8")) as { backend?: { url?: unknown } } | null;
			const url = project?.backend?.url;
			if (typeof url !== "string") return undefined;
			return url.startsWith("file://.") ? `file://${resolve(folder, url.slice("file://".length))}` : url;
		}
		if (dirname(folder) === folder) return undefined;
	}
}

/** Where `pulumi login` went. */
function backendOfLogin(): string | undefined {
	const file = join(process.env.PULUMI_HOME ?? join(homedir(), ".pulumi"), "credentials.json");
	if (!existsSync(file)) return undefined;
	const { current } = JSON.parse(readFileSync(file, "utf8")) as { current?: unknown };
	return typeof current === "string" ? current : undefined;
}
