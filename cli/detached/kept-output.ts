import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../provider/errors";
import { type End, KEPT_BYTES } from "./folder";

/** An output in a file: its beginning is kept, all of it is counted. */
export class KeptOutput {
	private bytes = 0;
	private kept = 0;
	private problem: string | undefined;

	private constructor(private readonly file: FileHandle) {}

	static async in(folder: string, name: "stdout" | "stderr"): Promise<KeptOutput> {
		return new KeptOutput(await open(join(folder, name), "wx", 0o600));
	}

	/** A disk that is full does not end the command: what comes then is counted. */
	async add(chunk: Uint8Array): Promise<void> {
		this.bytes += chunk.length;
		if (this.problem !== undefined) return;
		const piece = chunk.subarray(0, KEPT_BYTES - this.kept);
		try {
			for (let at = 0; at < piece.length; ) {
				const { bytesWritten } = await this.file.write(piece, at);
				at += bytesWritten;
				this.kept += bytesWritten;
			}
		} catch (thrown) {
			this.problem = errnoOf(thrown) ?? String(thrown);
		}
	}

	async close(): Promise<End["stdout"]> {
		await this.file.close();
		const { bytes, kept, problem } = this;
		return { bytes, kept, ...(problem === undefined ? {} : { problem }) };
	}
}
