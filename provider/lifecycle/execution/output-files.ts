import { createHash, type Hash } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { hasErrno } from "../../errors";
import type { StoredOutput } from "./inputs";

/** How much of an output is kept in its file, in bytes. */
const FILE_BYTES = 1024 * 1024 * 1024;
/** How much of its end goes into the state, in bytes. */
const TAIL_BYTES = 4096;

/** The two outputs of one command, in files of a folder of their own. */
export class OutputFiles {
	readonly stdout: OutputFile;
	readonly stderr: OutputFile;

	constructor(private readonly folder: string) {
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		this.stdout = new OutputFile(join(folder, "stdout"));
		this.stderr = new OutputFile(join(folder, "stderr"));
	}

	close(): void {
		this.stdout.close();
		this.stderr.close();
	}

	/** Keeps the files of a command that failed, in place of those of an earlier one. */
	async moveTo(folder: string): Promise<void> {
		await rm(folder, { recursive: true, force: true });
		await rename(this.folder, folder);
	}

	remove(): Promise<void> {
		return removeFolder(this.folder);
	}
}

/** Removes the outputs of a run, and the folder of its resource where no other run has any. */
export async function removeFolder(folder: string): Promise<void> {
	await rm(folder, { recursive: true, force: true });
	await rmdir(dirname(folder)).catch((thrown: unknown) => {
		if (!hasErrno(thrown, "ENOTEMPTY", "ENOENT")) throw thrown;
	});
}

class OutputFile {
	private readonly descriptor: number;
	private readonly hash: Hash = createHash("sha256");
	private bytes = 0;
	private tail = Buffer.alloc(0);

	constructor(private readonly file: string) {
		this.descriptor = openSync(file, "w", 0o600);
	}

	add(chunk: Uint8Array): void {
		this.hash.update(chunk);
		const room = FILE_BYTES - this.bytes;
		if (room > 0) writeSync(this.descriptor, chunk.subarray(0, room));
		this.bytes += chunk.length;
		this.tail = Buffer.concat([this.tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
	}

	/** Begins with a whole character, and where more came before, with a whole line. */
	get lastText(): string {
		const text = new StringDecoder("utf8").end(this.tail);
		if (this.bytes <= TAIL_BYTES) return text;
		const line = text.indexOf("\n");
		return line >= 0 && line < text.length - 1 ? text.slice(line + 1) : text.replace(/^\uFFFD+/, "");
	}

	get stored(): StoredOutput {
		return {
			file: this.file,
			sha256: this.hash.copy().digest("hex"),
			bytes: this.bytes,
			truncated: this.bytes > FILE_BYTES,
		};
	}

	close(): void {
		closeSync(this.descriptor);
	}
}
