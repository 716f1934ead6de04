import type { Streams } from "../command-line/command";

/** Writes output as it comes; done once it is written, so that whoever reads slowly holds the command back. */
export function passOn(streams: Streams) {
	return (stream: "stdout" | "stderr", chunk: Uint8Array): Promise<void> =>
		// Where it cannot be written any more, the run is stopped by who looks after the streams.
		new Promise((done) => streams[stream].write(chunk, () => done()));
}
