#!/usr/bin/env node
import { constants } from "node:os";
import { EXIT } from "./command-line/exit";
import { main } from "./main";

const stop = new AbortController();
let endedBy: number | undefined;

for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) {
	process.on(signal, () => {
		// Asked twice: whoever asks does not want to wait for an orderly end.
		if (stop.signal.aborted) process.exit(128 + constants.signals[signal]);
		endedBy = 128 + constants.signals[signal];
		stop.abort();
	});
}
for (const stream of [process.stdout, process.stderr]) {
	stream.on("error", () => {
		endedBy ??= EXIT.outputClosed;
		stop.abort();
	});
}

/** Output to a pipe is written behind our back: process.exit would cut it. */
const written = (stream: NodeJS.WriteStream) => new Promise((resolve) => stream.write("", resolve));

void main(process.argv.slice(2), process, stop.signal).then(async (code) => {
	await Promise.all([written(process.stdout), written(process.stderr)]);
	// Something may still hold the loop: a standard input that nobody closes.
	process.exit(endedBy ?? code);
});
