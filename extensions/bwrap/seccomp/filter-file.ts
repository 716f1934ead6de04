import { UnnamedFile } from "../../../provider/transport";
import { seccompFilter } from "./filter";

let file: UnnamedFile | undefined;

/** A descriptor that a `bwrap --seccomp` of this machine reads the filter from. It is the taker's to close. */
export function openFilter(): number {
	file ??= new UnnamedFile(seccompFilter(process.arch));
	return file.open();
}
