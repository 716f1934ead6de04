import { isObeyed } from "../credentials";

/** The kernel's bound of one string of an environment (MAX_ARG_STRLEN of linux/binfmts.h), in bytes. */
const LONGEST = 128 * 1024;

/** Why a variable may not be given to a command; `undefined` where it may. Never tells the value. */
export function refusalOfVariable(name: string, value: string): string | undefined {
	if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return "is no name of an environment variable";
	if (isObeyed(name))
		return "is obeyed by a loader or an interpreter before the command itself runs; put it into the command, such as [env, NAME=value, …]";
	if (value.includes("\0")) return "has a NUL in its value";
	if (Buffer.byteLength(name) + Buffer.byteLength(value) + 2 > LONGEST) return `is longer than ${LONGEST} bytes`;
	return undefined;
}
