import { closeSync } from "node:fs";
import { Socket } from "node:net";

/** What a pipe holds at most, unless somebody asks for more (pipe(7)), in bytes. */
const PIECE_BYTES = 64 * 1024;

/** Reads a pipe to its end through one buffer, so that memory does not grow with what is read. */
export class PipeReader {
	private socket: Socket | undefined;
	private isClosed = false;

	/** @param descriptor - Closed by this object. */
	constructor(private readonly descriptor: number) {}

	/**
	 * Hands on what comes, until the end or `destroy`.
	 *
	 * @param take - Gets a view of the buffer, which the next piece overwrites; a promise holds the next back.
	 */
	read(take: (piece: Uint8Array) => void | Promise<void>): Promise<void> {
		if (this.isClosed) return Promise.resolve();
		return new Promise((resolve, reject) => {
			const buffer = Buffer.allocUnsafe(PIECE_BYTES);
			const socket = new Socket({
				fd: this.descriptor,
				readable: true,
				writable: false,
				onread: {
					buffer,
					callback: (size) => {
						try {
							const taken = take(buffer.subarray(0, size));
							if (taken === undefined) return true;
							taken.then(
								() => socket.resume(),
								(thrown: Error) => socket.destroy(thrown),
							);
						} catch (thrown) {
							socket.destroy(thrown as Error);
						}
						return false;
					},
				},
			});
			this.socket = socket;
			socket.once("error", reject).once("close", () => resolve());
			socket.resume();
		});
	}

	destroy(): void {
		if (this.isClosed) return;
		this.isClosed = true;
		if (this.socket === undefined) closeSync(this.descriptor);
		else this.socket.destroy();
	}
}
