import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SandboxerError } from "../../provider/errors";

const isRoot = process.geteuid?.() === 0;

/** A test that mounts, gives files away or acts as another user; by its name it says so where it cannot. */
export function itAsRoot(name: string, test: () => Promise<void>): void {
	if (isRoot) it(name, test);
	else it.skip(`${name} (needs root: not run)`, test);
}

/** A user who owns nothing here. */
export const NOBODY = { uid: 65_534, gid: 65_534 };

/** A signal that never fires. */
export const untilDone = new AbortController().signal;

/** A directory for one test, and whatever is mounted in it, gone afterwards. */
export class Scratch {
	readonly root = mkdtempSync(join(tmpdir(), "workspace-"));
	readonly #mounts: string[] = [];

	path(...parts: string[]): string {
		return join(this.root, ...parts);
	}

	directory(...parts: string[]): string {
		const path = this.path(...parts);
		mkdirSync(path, { recursive: true });
		return path;
	}

	file(path: string, content = path): string {
		const full = this.path(path);
		mkdirSync(dirname(full), { recursive: true });
		writeFileSync(full, content);
		return full;
	}

	/** Mounts and notes it, for `clean`. */
	mount(directory: string, ...words: string[]): void {
		execFileSync("mount", [...words, directory]);
		this.#mounts.push(directory);
	}

	/** Unmounts one before its time. */
	unmount(directory: string): void {
		execFileSync("umount", [directory]);
		this.#mounts.splice(this.#mounts.lastIndexOf(directory), 1);
	}

	clean(): void {
		for (const directory of this.#mounts.splice(0).reverse()) execFileSync("umount", ["-l", directory]);
		// What a test made read-only keeps its contents from everybody but root.
		execFileSync("chmod", ["-R", "u+rwX", this.root]);
		rmSync(this.root, { recursive: true, force: true });
	}
}

/** Git as a developer has it, but with nobody's settings. */
export function git(cwd: string, ...words: string[]): string {
	const who = ["-c", "user.email=dev@example.com", "-c", "user.name=dev", "-c", "protocol.file.allow=always"];
	const env = {
		PATH: process.env.PATH,
		HOME: "/dev/null",
		GIT_CONFIG_NOSYSTEM: "1",
		GIT_CONFIG_GLOBAL: "/dev/null",
	};
	return execFileSync("git", [...who, ...words], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** A repository with all that is in it committed. */
export function commitAll(directory: string): void {
	git(directory, "init", "-q");
	git(directory, "add", "-A");
	git(directory, "commit", "-qm", "all", "--allow-empty");
}

/** Every path below a directory, each byte one character, sorted. */
export function manifest(directory: string): string[] {
	const found: string[] = [];
	const walk = (at: Buffer, prefix: string) => {
		for (const entry of readdirSync(at, { withFileTypes: true, encoding: "buffer" })) {
			const name = `${prefix}${entry.name.toString("latin1")}`;
			found.push(name);
			if (entry.isDirectory()) walk(Buffer.concat([at, Buffer.from("/"), entry.name]), `${name}/`);
		}
	};
	walk(Buffer.from(directory), "");
	return found.sort();
}

/** What a promise was refused with. */
export async function refusal(promise: Promise<unknown>): Promise<SandboxerError> {
	try {
		await promise;
	} catch (thrown) {
		if (thrown instanceof SandboxerError) return thrown;
		throw thrown;
	}
	throw new Error("It was not refused.");
}

/** Sets variables for one call; `process.env` is where git's environment is picked from. */
export async function withEnvironment<T>(
	variables: Readonly<Record<string, string>>,
	call: () => Promise<T>,
): Promise<T> {
	const before = new Map(Object.keys(variables).map((name) => [name, process.env[name]]));
	Object.assign(process.env, variables);
	try {
		return await call();
	} finally {
		for (const [name, value] of before) {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
	}
}

/** A program that leaves a trace when it is run. */
export function canary(scratch: Scratch): { readonly program: string; readonly trace: string } {
	const trace = scratch.path("trace");
	const program = scratch.file("canary.sh", `#!/bin/sh\ntouch '${trace}'\n`);
	chmodSync(program, 0o755);
	return { program, trace };
}
