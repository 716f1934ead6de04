import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "../../../provider/contract";
import { makePipes, type Pipe, PipeReader, spawnClean, strayDescriptors } from "../../../provider/transport";
import { INSIDE_ENVIRONMENT } from "../holder/command";
import type { Programs } from "../preflight";
import type { BwrapRecord } from "../record";
import { openFilter } from "../seccomp/filter-file";
import { endTree } from "./end-tree";
import { ENTRY_DESCRIPTORS, entryCommand, entryUser } from "./entry-command";
import { unspawned } from "./failures";

const GATE = readFileSync(join(__dirname, "gate.sh"), "utf8");

/** How and where a process enters, and what it is to become. */
export interface EntryOptions {
	readonly programs: Programs;
	/** Of a sandbox whose control groups are made; its first process need not be there yet. */
	readonly record: BwrapRecord;
	readonly command: Omit<Command, "output">;
}

/**
 * A process on its way into a sandbox: in the sandbox's control groups, and waiting to be told which process to
 * follow. It ends where its caller does.
 */
export class EntryProcess {
	private follows = false;

	private constructor(
		readonly child: ChildProcess,
		readonly exited: Promise<[number | null, NodeJS.Signals | null]>,
		private readonly gate: Duplex,
		/** Standard output and standard error. */
		readonly outputs: readonly PipeReader[],
	) {}

	static async start({ programs, record, command }: EntryOptions): Promise<EntryProcess> {
		const files = Object.values(command.secretFiles);
		const first = ENTRY_DESCRIPTORS.firstFile;
		const filter = openFilter();
		const [stdout, stderr] = (await makePipes(2, INSIDE_ENVIRONMENT.PATH, entryUser(record)).catch(
			(thrown: unknown) => {
				closeSync(filter);
				throw thrown;
			},
		)) as [Pipe, Pipe];
		const outputs = [stdout, stderr].map(({ reader }) => new PipeReader(reader));
		try {
			const stray = strayDescriptors(first + files.length);
			const keeping = { gate: GATE, filtered: filteredLikeHere(), stray };
			const [program = "", ...args] = entryCommand(programs, record, command, keeping);
			const child = spawnClean(program, args, {
				env: { PATH: INSIDE_ENVIRONMENT.PATH },
				stdio: [
					command.stdin === undefined ? "ignore" : "pipe",
					...[stdout.writer, stderr.writer, filter],
					...Array.from({ length: 2 + files.length }, () => "pipe" as const),
				],
				detached: true,
				stray,
			});
			const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
			exited.catch(() => undefined);
			const streams = child.stdio.slice(ENTRY_DESCRIPTORS.arguments) as (Duplex | null)[];
			// Whoever is at their other end may end before he has read all.
			for (const stream of streams) stream?.on("error", () => undefined);
			const [words, gate, ...secrets] = streams;
			words?.end(bwrapArguments(command).join("\0"));
			for (const [index, content] of files.entries()) secrets[index]?.end(content);
			// A command need not read all that there is for it.
			if (command.stdin !== undefined && child.stdin !== null)
				void pipeline(command.stdin, child.stdin).catch(() => undefined);
			return new EntryProcess(child, exited, gate as Duplex, outputs);
		} catch (thrown) {
			for (const output of outputs) output.destroy();
			throw unspawned(record, thrown);
		} finally {
			for (const descriptor of [filter, stdout.writer, stderr.writer]) closeSync(descriptor);
		}
	}

	/** Sends it to the sandbox whose first process this is, once: up to the gate, and no further. */
	follow(pid: number): void {
		if (!this.follows) this.gate.write(`${pid}\n`);
		this.follows = true;
	}

	/**
	 * Lets the command through once it stands behind everything that ends it with this process.
	 *
	 * @returns Why it was not let through: the gate's word, or "closed" where it never came so far.
	 */
	async throughGate(): Promise<string | undefined> {
		const { gate } = this;
		let said = "";
		for await (const chunk of gate) {
			if (gate.destroyed) break;
			if (said === "") gate.write("go\n");
			said += String(chunk);
			const word = said
				.split("\n")
				.slice(0, -1)
				.find((candidate) => candidate !== "here");
			if (word !== undefined) return word === "started" ? undefined : word;
		}
		return "closed";
	}

	/** Ends it and all that it became. What of it may outlive the signal stands before the gate, and gets no answer. */
	end(): void {
		this.gate.destroy();
		const { pid, exitCode, signalCode } = this.child;
		if (pid !== undefined && exitCode === null && signalCode === null) endTree(pid);
		// What was handed to somebody else may stay open for as long as he likes.
		for (const output of this.outputs) output.destroy();
	}

	/** Ends one that is not wanted any more, and waits for that: until then it is in the sandbox's control groups. */
	async discard(): Promise<void> {
		this.end();
		await this.exited.catch(() => undefined);
		this.close();
	}

	/** Lets go of its pipes. */
	close(): void {
		for (const stream of [...this.outputs, ...this.child.stdio]) stream?.destroy();
	}
}

/** How a process here will be filtered that has put on one filter more than this process has. */
function filteredLikeHere(): string {
	const count = /^Seccomp_filters:\s*(\d+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
	return count === undefined ? "2," : `2,${Number(count) + 1},`;
}

/** What must not be seen on any command line: environment, files; and where it starts. */
function bwrapArguments({ env, secretFiles, cwd }: EntryOptions["command"]): string[] {
	const names = Object.keys(secretFiles);
	const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(secretFiles[name] ?? "") + 4096, 4096);
	const files = names.flatMap((name, index) => [
		...["--perms", "0400", "--file", String(ENTRY_DESCRIPTORS.firstFile + index), `/run/secrets/${name}`],
	]);
	return [
		...Object.entries({ ...INSIDE_ENVIRONMENT, ...env }).flatMap(([name, value]) => ["--setenv", name, value]),
		// The sandbox's own /run/secrets is shared by all commands, and for good.
		...(names.length === 0 ? [] : ["--size", String(bytes), "--perms", "0700", "--tmpfs", "/run/secrets", ...files]),
		...(names.length === 0 ? [] : ["--remount-ro", "/run/secrets"]),
		...["--chdir", cwd],
	];
}
