import { tmpdir } from "node:os";
import { errnoText, SandboxerError } from "../../../provider/errors";
import { UnnamedFile } from "../../../provider/transport";
import { seccompFilter } from "./filter";

let file: UnnamedFile | undefined;

/** A descriptor that a `bwrap --seccomp` of this machine reads the filter from. It is the taker's to close. */
export function openFilter(): number {
	file ??= written();
	return file.open();
}

function written(): UnnamedFile {
	const filter = seccompFilter(process.arch);
	let made: UnnamedFile | undefined;
	try {
		made = new UnnamedFile(tmpdir());
		made.writeSync(filter);
		return made;
	} catch (thrown) {
		void made?.close();
		throw new SandboxerError({
			code: "preflight",
			message: `The system call filter could not be written to ${tmpdir()}: ${errnoText(thrown)}.`,
			hint: "Set TMPDIR to a folder that this user may write to, with room.",
			cause: thrown,
		});
	}
}
