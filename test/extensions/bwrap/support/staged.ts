import { execFileSync, spawnSync } from "node:child_process";
import {
	chmodSync,
	copyFileSync,
	cpSync,
	linkSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { transformSync } from "@swc/core";
import { isRoot, ordinaryUser } from "./users";

const ROOT = join(__dirname, "..", "..", "..", "..");
const FOLDERS = ["provider", "extensions/bwrap", "test/extensions/bwrap/support"];

export function toJavaScript(source: string): string {
	return transformSync(source, {
		jsc: { target: "es2023", parser: { syntax: "typescript" } },
		module: { type: "commonjs" },
	}).code;
}

/**
 * The sources as JavaScript, and node, in a folder that every user may read: the checkout and the node that
 * run the tests may be in root's home.
 */
export class Staged {
	readonly folder = mkdtempSync(join(tmpdir(), "bwrap-stage-"));
	readonly node: string;
	readonly worker = join(this.folder, "test/extensions/bwrap/support/worker.js");

	constructor() {
		chmodSync(this.folder, 0o755);
		for (const folder of FOLDERS) this.#compile(folder);
		const zod = dirname(require.resolve("zod/package.json"));
		cpSync(zod, join(this.folder, "node_modules/zod"), {
			recursive: true,
			filter: (file) => !/\.(ts|cts|mts|map|md)$/.test(file),
		});
		this.node = this.#node();
		if (isRoot) execFileSync("chmod", ["-R", "a+rX", this.folder]);
	}

	/** One of them, by its path in the repository. */
	file(path: string): string {
		return join(this.folder, path);
	}

	remove(): void {
		rmSync(this.folder, { recursive: true, force: true });
	}

	#compile(folder: string): void {
		for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })) {
			const source = join(ROOT, folder, name);
			const target = join(this.folder, folder, name);
			if (!statSync(source).isFile() || name.endsWith(".d.ts")) continue;
			mkdirSync(dirname(target), { recursive: true });
			if (!name.endsWith(".ts")) copyFileSync(source, target);
			else writeFileSync(target.replace(/\.ts$/, ".js"), toJavaScript(readFileSync(source, "utf8")));
		}
	}

	#node(): string {
		if (ordinaryUser.uid === undefined) return process.execPath;
		const words = ["--reuid", String(ordinaryUser.uid), "--clear-groups", process.execPath, "--version"];
		if (spawnSync("setpriv", words).status === 0) return process.execPath;
		const copy = join(this.folder, "node");
		try {
			linkSync(process.execPath, copy);
		} catch {
			copyFileSync(process.execPath, copy);
		}
		return copy;
	}
}
